// What campaigns that stop when the question is answered cost and how often they are wrong, beside
// the fixed plan of equal errors: 10,000 simulated campaigns over each planted boundary, and the
// coverage of the confidence sequence at the worst stopping time. Look at the counters; the times
// are those of the simulation.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "harness/campaign/simulated_campaign.h"

namespace {

using namespace mpsprobe;

constexpr int kCampaigns = 10'000;
constexpr double kSettleRate = 0.1;
constexpr uint64_t kSeed = 23;

void print(benchmark::State& state, const SimulatedCampaigns& all) {
  const auto share = [](int count, int of) { return 100.0 * count / of; };
  state.counters["trials"] = all.mean_trials;
  state.counters["wrong_%"] = share(all.wrong, all.campaigns);
  state.counters["erratic_wrong_%"] = share(all.missed, all.campaigns);
  state.counters["accused_%"] = share(all.accused, all.campaigns);
  state.counters["coverage_%"] = 100 - share(all.uncovered, all.intervals);
}

void register_all() {
  const RateQuestion question = settling_question(kSettleRate);
  for (const PlantedBoundary& planted : planted_boundaries(question)) {
    benchmark::RegisterBenchmark(("settle/" + planted.name).c_str(),
                                 [question, planted](benchmark::State& state) {
                                   for (auto each : state) {
                                     print(state,
                                           settle_simulated(question, planted, kCampaigns, kSeed));
                                   }
                                 })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("fixed/" + planted.name).c_str(),
                                 [question, planted](benchmark::State& state) {
                                   for (auto each : state) {
                                     print(state,
                                           plan_simulated(question, planted, kCampaigns, kSeed));
                                   }
                                 })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  for (int step = 0; step <= 20; ++step) {
    benchmark::RegisterBenchmark(fmt::format("coverage/p={:.2f}", step * 0.05).c_str(),
                                 [step](benchmark::State& state) {
                                   constexpr int kLength = 500;
                                   for (auto each : state) {
                                     const int left =
                                         sequences_left(step * 0.05, kCampaigns, kLength, kSeed);
                                     state.counters["coverage_%"] = 100 - 100.0 * left / kCampaigns;
                                   }
                                 })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
