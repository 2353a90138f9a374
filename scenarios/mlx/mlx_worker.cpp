#include "scenarios/mlx/mlx_program.h"
#include "scenarios/worker/run_worker.h"

int main(int argc, char** argv) {
  const std::unique_ptr<mpsprobe::WorkerProgram> program = mpsprobe::make_mlx_program();
  return mpsprobe::run_worker(argc, argv, *program);
}
