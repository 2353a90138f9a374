#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace mpsprobe {

/// Something that a person wrote is wrong: an option, a cell, a matrix file. Carries where it is
/// wrong and what to do about it, so that every message names both. Leads to exit code 2.
class InputError : public std::runtime_error {
 public:
  /// `place` names the source ("--threads", "my.json: blocks[0].axes.threads"), `problem` says what
  /// is wrong there, `remedy` what to write instead. All three are plain text.
  InputError(std::string place, std::string problem, std::string remedy)
      : std::runtime_error(place + ": " + problem + (problem.ends_with('?') ? " " : ". ") + remedy),
        place_(std::move(place)),
        problem_(std::move(problem)),
        remedy_(std::move(remedy)) {}

  const std::string& place() const { return place_; }
  const std::string& problem() const { return problem_; }
  const std::string& remedy() const { return remedy_; }

  /// The same error seen from further out: "my.json: " + place.
  InputError within(const std::string& outer) const {
    return {place_.empty() ? outer : outer + ": " + place_, problem_, remedy_};
  }

 private:
  std::string place_;
  std::string problem_;
  std::string remedy_;
};

}  // namespace mpsprobe
