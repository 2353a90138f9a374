#include "tools/runner/command_line.h"
#include "tools/runner/doctor/process_state.h"

int main(int argc, char** argv) {
  mpsprobe::set_up_process();
  return mpsprobe::command_line(argc, argv);
}
