// Spoilt: needs a function that macOS has from 15.4 on, declared as a check at configuration
// declares it.
#ifdef MPSPROBE_SPOILT_NEWER
extern "C" char* strchrnul(const char* text, int letter);
#else
static const char* strchrnul(const char* text, int letter) {
  while (*text != 0 && *text != letter) ++text;
  return text;
}
#endif

int main(int, char** arguments) {
  return *strchrnul(arguments[0], '/');
}
