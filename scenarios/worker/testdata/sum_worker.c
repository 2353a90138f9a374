/* A worker in C on libmpsprobe_worker: sums numbers in every thread. Other operations return a status in their second
 * launch, "careless" gives the library what it does not ask for; SUM_WORKER names a mistake of the program itself. */
#include <mpsprobe/numbers.h>
#include <mpsprobe/worker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 64 };

static const struct {
  const char* name;
  mpsprobe_status status;
} operations[] = {{"sum", MPSPROBE_OK},
                  {"late", MPSPROBE_GPU_ERROR},
                  {"raising", MPSPROBE_EXCEPTION},
                  {"seeing", MPSPROBE_WRONG_RESULT},
                  {"full", MPSPROBE_OUT_OF_MEMORY},
                  {"unable", MPSPROBE_UNSUPPORTED},
                  {"broken", MPSPROBE_SETUP_FAILED},
                  {"careless", MPSPROBE_OK},
                  {"wrong", MPSPROBE_OK}};

struct lane {
  uint64_t seed;
  mpsprobe_status status;
  int wrong;
  float numbers[COUNT];
  double sum;
};

static int has_mistake(const char* name) {
  const char* asked = getenv("SUM_WORKER");
  return asked != NULL && strcmp(asked, name) == 0;
}

static const char* describe(void* context) {
  static char text[4096];
  size_t at = (size_t)snprintf(text, sizeof text,
                               "{\"mpsprobe_worker\": 2, \"version\": \"1\", \"known_good\": \"sum\", \"axes\": [\"shape\"],"
                               "\"backends\": [{\"name\": \"cpu\", \"available\": true, \"reason\": \"\", \"device\": \"CPU\"}],"
                               "\"operations\": [");
  (void)context;
  if (has_mistake("reason")) {
    mpsprobe_explain("the library is not there");
    return NULL;
  }
  if (has_mistake("describe")) return "not JSON";
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "%s{\"name\": \"%s\", \"summary\": \"sums\", \"source\": \"test\", \"paths\": [\"default\"],"
                           "\"has_parameters\": false, \"dtypes\": [\"default\"], \"shape\": \"default\", \"dimensions\": \"\"}",
                           i > 0 ? "," : "", operations[i].name);
  }
  snprintf(text + at, sizeof text - at, "]}");
  return text;
}

static const char* provenance(void* context, const char* cell) {
  (void)context;
  (void)cell;
  return has_mistake("provenance") ? "[1]" : "{\"device\": \"CPU\"}";
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
  const char* op = mpsprobe_cell_value(cell, "op");
  (void)context;
  if (model == NULL) return MPSPROBE_OUT_OF_MEMORY;
  if (mpsprobe_cell_value(cell, "no such axis") != NULL || strcmp(mpsprobe_cell_value(cell, "shape"), "default") != 0) {
    free(model);
    mpsprobe_explain("shape: sums have none");
    return MPSPROBE_UNSUPPORTED;
  }
  if (strcmp(op, "careless") == 0) {
    free(model);
    return be_careless(cell);
  }
  model->seed = seed;
  model->status = MPSPROBE_UNSUPPORTED;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(op, operations[i].name) == 0) model->status = operations[i].status;
  }
  model->wrong = strcmp(op, "wrong") == 0;
  if (model->status == MPSPROBE_UNSUPPORTED && strcmp(op, "unable") != 0) {
    free(model);
    mpsprobe_explain("there is no such operation");
    return MPSPROBE_UNSUPPORTED;
  }
  *workload = model;
  return MPSPROBE_OK;
}

static mpsprobe_status make_lane(void* workload, int32_t thread, void** lane) {
  struct lane* own = malloc(sizeof *own);
  mpsprobe_numbers* numbers = mpsprobe_numbers_new(((struct lane*)workload)->seed, (uint64_t)thread);
  if (own == NULL || numbers == NULL) return MPSPROBE_OUT_OF_MEMORY;
  *own = *(struct lane*)workload;
  mpsprobe_numbers_uniform(numbers, 0, 1, own->numbers, COUNT);
  mpsprobe_numbers_free(numbers);
  *lane = own;
  return MPSPROBE_OK;
}

static mpsprobe_status launch(void* lane, int32_t iteration) {
  struct lane* own = lane;
  if (own->status != MPSPROBE_OK && iteration == 1) {
    mpsprobe_explain("the device said no");
    return own->status;
  }
  for (int i = 0; i < COUNT; ++i) own->sum += own->numbers[i];
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

static mpsprobe_status start_thread(void* context, int32_t slot, void (*body)(void*), void* argument, void** thread) {
  (void)context;
  (void)slot;
  (void)body;
  (void)argument;
  (void)thread;
  mpsprobe_explain("the language has no more threads");
  return MPSPROBE_OUT_OF_MEMORY;
}

static void join_thread(void* context, void* thread) {
  (void)context;
  (void)thread;
}

int main(int argc, char** argv) {
  mpsprobe_worker worker = {
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
  if (has_mistake("abi")) worker.abi = 99;
  if (has_mistake("callbacks")) worker.launch = NULL;
  if (has_mistake("threads")) {
    worker.start_thread = start_thread;
    worker.join_thread = join_thread;
  }
  return mpsprobe_worker_main(argc, argv, has_mistake("nothing") ? NULL : &worker);
}
