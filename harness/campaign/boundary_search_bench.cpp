// What campaigns that stop when the question is answered cost and how often they are wrong, beside
// the fixed plan of equal errors: 10,000 simulated campaigns over each planted boundary, and the
// coverage of the confidence sequence at the worst stopping time. Look at the counters; the times
// are those of the simulation.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "harness/campaign/simulated_campaign.h"

namespace {

using namespace mpsprobe;

constexpr int kCampaigns = 10'000;
constexpr double kSettleRates[] = {0.1, 0.05};
constexpr uint64_t kSeed = 23;

void print(benchmark::State& state, const SimulatedCampaigns& all) {
  const auto share = [](int count, int of) { return 100.0 * count / of; };
  state.counters["trials"] = all.mean_trials;
  state.counters["wrong_%"] = share(all.wrong, all.campaigns);
  state.counters["erratic_wrong_%"] = share(all.missed, all.campaigns);
  state.counters["accused_%"] = share(all.accused, all.campaigns);
  state.counters["coverage_%"] = 100 - share(all.uncovered, all.intervals);
}

using Simulate = SimulatedCampaigns(const RateQuestion&, const PlantedBoundary&, int, uint64_t);

void register_one(const std::string& name, const RateQuestion& question,
                  const PlantedBoundary& planted, Simulate* simulate) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [question, planted, simulate](benchmark::State& state) {
                                 for (auto each : state) {
                                   print(state, simulate(question, planted, kCampaigns, kSeed));
                                 }
                               })
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const double rate : kSettleRates) {
    const RateQuestion question = settling_question(rate);
    for (const PlantedBoundary& planted : planted_boundaries(question)) {
      register_one(fmt::format("settle {:g}%/{}", rate * 100, planted.name), question, planted,
                   settle_simulated);
      register_one(fmt::format("fixed {:g}%/{}", rate * 100, planted.name), question, planted,
                   plan_simulated);
    }
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
