#include "tools/runner/command_line.h"

int main(int argc, char** argv) {
  return mpsprobe::command_line(argc, argv);
}
