#pragma once

#include <array>

#include "harness/record/evidence_fields.h"
#include "harness/record/field.h"
#include "harness/record/trial.h"

// A trial and what it consists of (field.h).

namespace mpsprobe {

template <>
inline constexpr auto fields<Exited> = described<Exited>(field::safe("code", &Exited::code));
template <>
inline constexpr auto fields<Signaled> = described<Signaled>(
    field::safe("signal", &Signaled::signal), field::safe("core_dumped", &Signaled::core_dumped));
template <>
inline constexpr std::tuple derived_keys<Signaled>{derived<Signaled>(
    "name", [](const Signaled& signaled) { return signal_name(signaled.signal); })};
template <>
inline constexpr auto fields<NotSpawned> = described<NotSpawned>(
    field::safe("error", &NotSpawned::error), field::text("what", &NotSpawned::what));
template <>
inline constexpr auto fields<NotReaped> = described<NotReaped>();

/// The word under "kind" of each alternative, in their order.
constexpr std::array<const char*, std::variant_size_v<Termination>> kTerminations{
    "exited", "signaled", "not_spawned", "not_reaped"};

template <>
inline constexpr auto fields<Capture> = described<Capture>(
    field::output("head", &Capture::head), field::output("tail", &Capture::tail),
    field::safe("bytes", &Capture::bytes), field::message("noticed", &Capture::noticed));
template <>
inline constexpr std::tuple derived_keys<Capture>{
    derived<Capture>("dropped", [](const Capture& capture) { return capture.dropped(); })};

template <>
inline constexpr auto fields<Usage> =
    described<Usage>(field::safe("user_seconds", &Usage::user_seconds),
                     field::safe("system_seconds", &Usage::system_seconds),
                     field::safe("max_rss_bytes", &Usage::max_rss_bytes));

// Written as its provenance alone.
template <>
inline constexpr auto fields<HelloEvent> =
    described<HelloEvent>(field::safe("protocol", &HelloEvent::protocol).apart(),
                          field::reference("provenance", &HelloEvent::provenance));

template <>
inline constexpr auto fields<FailureEvent> = described<FailureEvent>(
    field::text("kind", &FailureEvent::kind), field::message("text", &FailureEvent::text),
    field::text("phase", &FailureEvent::phase), field::safe("thread", &FailureEvent::thread),
    field::safe("iteration", &FailureEvent::iteration),
    field::text("operation", &FailureEvent::operation));

template <>
inline constexpr auto fields<ResultEvent> = described<ResultEvent>(
    field::safe("operations", &ResultEvent::operations),
    field::safe("seconds", &ResultEvent::seconds), field::safe("checked", &ResultEvent::checked),
    field::safe("unchecked", &ResultEvent::unchecked),
    field::name("observed_path", &ResultEvent::observed_path),
    field::safe("inside_seconds", &ResultEvent::inside_seconds).if_any(),
    field::safe("inside_cpu_seconds", &ResultEvent::inside_cpu_seconds).if_any(),
    field::safe("cpu_seconds", &ResultEvent::cpu_seconds).if_any());

template <>
inline constexpr auto fields<Observation> =
    described<Observation>(field::safe("calls", &Observation::calls),
                           field::message("suspicions", &Observation::suspicions));

template <>
inline constexpr auto fields<ProcessRecord> = described<ProcessRecord>(
    field::safe("process", &ProcessRecord::process),
    field::safe("iteration", &ProcessRecord::iteration), field::safe("pid", &ProcessRecord::pid),
    field::safe("start", &ProcessRecord::start).later(),
    field::text("start_remark", &ProcessRecord::start_remark).if_any(),
    field::part("termination", &ProcessRecord::termination),
    field::safe("ended_by", &ProcessRecord::ended_by),
    field::safe("crashed_in_inquest", &ProcessRecord::crashed_in_inquest),
    field::safe("seconds", &ProcessRecord::seconds),
    field::safe("ready_seconds", &ProcessRecord::ready_seconds).later(),
    field::safe("ended_at", &ProcessRecord::ended_at),
    field::safe("failed_at", &ProcessRecord::failed_at).if_any(),
    field::safe("idle_seconds", &ProcessRecord::idle_seconds),
    field::part("usage", &ProcessRecord::usage), field::part("recorder", &ProcessRecord::recorder),
    field::safe("ready", &ProcessRecord::ready), field::part("provenance", &ProcessRecord::hello),
    field::part("result", &ProcessRecord::result),
    field::part("failures", &ProcessRecord::failures), field::part("stdout", &ProcessRecord::out),
    field::part("stderr", &ProcessRecord::err),
    field::safe("garbage_bytes", &ProcessRecord::garbage_bytes),
    field::safe("was_stopped", &ProcessRecord::was_stopped),
    field::safe("left_descendants", &ProcessRecord::left_descendants),
    field::safe("kernel_memory_kill", &ProcessRecord::kernel_memory_kill),
    field::output("children", &ProcessRecord::children).if_any(),
    field::safe("own_command", &ProcessRecord::own_command).if_any(),
    field::safe("child_signal", &ProcessRecord::child_signal).if_any(),
    field::name("stop_signals", &ProcessRecord::stop_signals),
    field::text("setup_problem", &ProcessRecord::setup_problem),
    field::part("stacks", &ProcessRecord::stacks),
    field::part("crash_report", &ProcessRecord::crash_report),
    field::part("gpu_events", &ProcessRecord::gpu_events),
    field::safe("api_validation_seen", &ProcessRecord::api_validation_seen),
    field::safe("shader_validation_seen", &ProcessRecord::shader_validation_seen),
    field::part("observation", &ProcessRecord::observation).if_any(),
    field::reference("image_set", &ProcessRecord::image_set).or_null());

template <>
inline constexpr auto fields<OtherFinding> = described<OtherFinding>(
    field::title("title", &OtherFinding::title), field::safe("known", &OtherFinding::known));

template <>
inline constexpr auto fields<Judgement> = described<Judgement>(
    field::safe("outcome", &Judgement::outcome), field::name("detail", &Judgement::detail),
    field::title("signature", &Judgement::signature),
    field::safe("signature_known", &Judgement::known), field::safe("basis", &Judgement::basis),
    field::part("also", &Judgement::also), field::name("why", &Judgement::why).if_any(),
    field::safe("bystander", &Judgement::bystander), field::safe("phase", &Judgement::phase));

template <>
inline constexpr auto fields<KnownGood> = described<KnownGood>(
    field::cell_name("cell", &KnownGood::cell), field::safe("attempts", &KnownGood::attempts),
    field::safe("outcome", &KnownGood::outcome));

template <>
inline constexpr auto fields<PathProbe> = described<PathProbe>(
    field::cell_name("cell", &PathProbe::cell), field::name("path", &PathProbe::path),
    field::text("why", &PathProbe::why));

template <>
inline constexpr auto fields<TrialRecord> = described<TrialRecord>(
    field::worker("worker", &TrialRecord::worker), field::safe("cell", &TrialRecord::cell),
    field::safe("trial", &TrialRecord::trial), field::safe("seed", &TrialRecord::seed).if_any(),
    field::safe("attempt", &TrialRecord::attempt), field::safe("sequence", &TrialRecord::sequence),
    field::cell_name("before", &TrialRecord::before), field::name("started", &TrialRecord::started),
    field::safe("seconds", &TrialRecord::seconds),
    field::part("judgement", &TrialRecord::judgement),
    field::safe("judged_process", &TrialRecord::judged_process),
    field::part("processes", &TrialRecord::processes),
    field::part("known_good", &TrialRecord::known_good),
    field::part("path_probe", &TrialRecord::path_probe).if_any());

}  // namespace mpsprobe
