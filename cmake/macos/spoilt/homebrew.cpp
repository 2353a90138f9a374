// Spoilt: takes a function from a library of Homebrew's, which other Macs have not.
#ifdef MPSPROBE_SPOILT
extern "C" int of_homebrew();
#else
static int of_homebrew() {
  return 0;
}
#endif

int main() {
  return of_homebrew();
}
