/* A worker of mpsprobe for your own library: put its calls into `operation`, and what it needs into
 * `make_lane`. mpsprobe/worker.h says what else there is: a device to wait for, weights, refusals. */
#include <mpsprobe/numbers.h>
#include <mpsprobe/worker.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096 };

typedef struct {
  float in[COUNT], out[COUNT], expected[COUNT];
  int32_t iteration;
  mpsprobe_checked found;
  char difference[256];
} lane;

/* What is tested: called by several threads at once, each with a lane of its own. */
static void operation(const float* in, float* out) {
  for (int i = 0; i < COUNT; ++i) out[i] = 2 * in[i];
}

static const char* describe(void* context) {
  (void)context;
  return "{\"mpsprobe_worker\": 2, \"version\": \"1\", \"known_good\": \"twice\","
         " \"backends\": [{\"name\": \"cpu\", \"available\": true, \"reason\": \"\", \"device\": \"CPU\"}],"
         " \"operations\": [{\"name\": \"twice\", \"summary\": \"doubles numbers\", \"source\": \"my library\","
         " \"paths\": [\"default\"], \"has_parameters\": false, \"dtypes\": [\"default\"], \"shape\": \"default\","
         " \"dimensions\": \"\"}]}";
}

static const char* provenance(void* context, const char* cell) {
  (void)context, (void)cell;
  return "{\"device\": \"CPU\"}"; /* and which build of the library is loaded */
}

static mpsprobe_status make_workload(void* context, const mpsprobe_cell* cell, uint64_t seed, void** workload) {
  static uint64_t kept;
  (void)context;
  if (strcmp(mpsprobe_cell_value(cell, "op"), "twice") != 0) {
    mpsprobe_explain("there is no such operation");
    return MPSPROBE_UNSUPPORTED;
  }
  kept = seed;
  *workload = &kept;
  return MPSPROBE_OK;
}

static mpsprobe_status make_lane(void* workload, int32_t thread, void** made) {
  lane* own = calloc(1, sizeof *own);
  mpsprobe_numbers* numbers = mpsprobe_numbers_new(*(const uint64_t*)workload, (uint64_t)thread);
  if (own == NULL || numbers == NULL) return MPSPROBE_OUT_OF_MEMORY;
  mpsprobe_numbers_normal(numbers, own->in, COUNT);
  mpsprobe_numbers_free(numbers);
  for (int i = 0; i < COUNT; ++i) own->expected[i] = 2 * own->in[i];
  own->found.wrong_iteration = -1;
  *made = own;
  return MPSPROBE_OK;
}

static mpsprobe_status launch(void* made, int32_t iteration) {
  lane* own = made;
  own->iteration = iteration;
  operation(own->in, own->out);
  return MPSPROBE_OK;
}

/* After each launch, when other threads may be in theirs: it waits for the device, where there is one. */
static mpsprobe_status synchronise(void* made) {
  lane* own = made;
  const int64_t sizes[] = {COUNT};
  own->found.checked++;
  if (own->found.wrong_iteration < 0 &&
      mpsprobe_compare(own->out, 'f', own->expected, 'f', sizes, 1, MPSPROBE_ELEMENTARY, 0x1p-23, 1,
                       own->difference, sizeof own->difference) != 1) {
    own->found.wrong_iteration = own->iteration;
  }
  return MPSPROBE_OK;
}

static mpsprobe_status check(void* made, mpsprobe_checked* checked) {
  const lane* own = made;
  *checked = own->found;
  if (own->found.wrong_iteration >= 0) mpsprobe_explain(own->difference);
  return MPSPROBE_OK;
}

int main(int argc, char** argv) {
  const mpsprobe_worker worker = {.abi = MPSPROBE_WORKER_ABI, .describe = describe, .provenance = provenance,
                                  .make_workload = make_workload, .make_lane = make_lane, .launch = launch,
                                  .synchronise = synchronise, .check = check, .free_lane = free};
  return mpsprobe_worker_main(argc, argv, &worker);
}
