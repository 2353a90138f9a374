#include "scenarios/selftest/selftest_program.h"
#include "scenarios/worker/run_worker.h"

int main(int argc, char** argv) {
  mpsprobe::SelftestProgram program;
  return mpsprobe::run_worker(argc, argv, program);
}
