/* A worker in C on libmpsprobe_worker: sums numbers in every thread. Operation "late" refuses in a launch,
 * "careless" gives the library what it does not ask for. */
#include <mpsprobe/worker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lane {
  uint64_t seed;
  int late;
  int wrong;
  int64_t sum;
};

static const char* describe(void* context) {
  (void)context;
  return "{\"mpsprobe_worker\": 2, \"version\": \"1\", \"known_good\": \"sum\", \"axes\": [\"shape\"],"
         "\"backends\": [{\"name\": \"cpu\", \"available\": true, \"reason\": \"\", \"device\": \"CPU\"}],"
         "\"operations\": ["
         "{\"name\": \"sum\", \"summary\": \"sums\", \"source\": \"test\", \"paths\": [\"default\"],"
         "\"has_parameters\": false, \"dtypes\": [\"default\"], \"shape\": \"default\", \"dimensions\": \"\"},"
         "{\"name\": \"late\", \"summary\": \"fails in its second launch\", \"source\": \"test\", \"paths\": [\"default\"],"
         "\"has_parameters\": false, \"dtypes\": [\"default\"], \"shape\": \"default\", \"dimensions\": \"\"},"
         "{\"name\": \"careless\", \"summary\": \"is careless\", \"source\": \"test\", \"paths\": [\"default\"],"
         "\"has_parameters\": false, \"dtypes\": [\"default\"], \"shape\": \"default\", \"dimensions\": \"\"},"
         "{\"name\": \"wrong\", \"summary\": \"is wrong\", \"source\": \"test\", \"paths\": [\"default\"],"
         "\"has_parameters\": false, \"dtypes\": [\"default\"], \"shape\": \"default\", \"dimensions\": \"\"}]}";
}

static const char* provenance(void* context, const char* cell) {
  (void)context;
  (void)cell;
  return "{\"device\": \"CPU\"}";
}

static mpsprobe_status be_careless(const mpsprobe_cell* cell) {
  const size_t size = 50000000;
  char* text = malloc(size + 1);
  if (mpsprobe_cell_value(NULL, "op") != NULL || mpsprobe_cell_value(cell, NULL) != NULL) return MPSPROBE_OK;
  mpsprobe_explain(NULL);
  memset(text, 'x', size);
  text[size] = 0;
  mpsprobe_explain(text);
  free(text);
  return (mpsprobe_status)99;
}

static mpsprobe_status make_workload(void* context, const mpsprobe_cell* cell, uint64_t seed, void** workload) {
  struct lane* model = calloc(1, sizeof *model);
  (void)context;
  if (strcmp(mpsprobe_cell_value(cell, "shape"), "default") != 0) {
    free(model);
    mpsprobe_explain("shape: sums have none");
    return MPSPROBE_UNSUPPORTED;
  }
  if (strcmp(mpsprobe_cell_value(cell, "op"), "careless") == 0) {
    free(model);
    return be_careless(cell);
  }
  model->seed = seed;
  model->late = strcmp(mpsprobe_cell_value(cell, "op"), "late") == 0;
  model->wrong = strcmp(mpsprobe_cell_value(cell, "op"), "wrong") == 0;
  *workload = model;
  return MPSPROBE_OK;
}

static mpsprobe_status make_lane(void* workload, int32_t thread, void** lane) {
  struct lane* own = malloc(sizeof *own);
  *own = *(struct lane*)workload;
  own->seed += (uint64_t)thread;
  *lane = own;
  return MPSPROBE_OK;
}

static mpsprobe_status launch(void* lane, int32_t iteration) {
  struct lane* own = lane;
  if (own->late && iteration == 1) {
    mpsprobe_explain("the device said no");
    return MPSPROBE_GPU_ERROR;
  }
  own->sum += (int64_t)(own->seed % 97) + iteration;
  return MPSPROBE_OK;
}

static mpsprobe_status check(void* lane, mpsprobe_checked* checked) {
  checked->checked = 1;
  if (((struct lane*)lane)->wrong) {
    checked->wrong_iteration = 0;
    mpsprobe_explain("expected 1, got 2");
  }
  return MPSPROBE_OK;
}

int main(int argc, char** argv) {
  const mpsprobe_worker worker = {
      .abi = MPSPROBE_WORKER_ABI,
      .describe = describe,
      .provenance = provenance,
      .make_workload = make_workload,
      .make_lane = make_lane,
      .launch = launch,
      .check = check,
      .free_workload = free,
      .free_lane = free,
  };
  return mpsprobe_worker_main(argc, argv, &worker);
}
