#include "reports/analysis/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/sample_journal.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> labels(const ReportTable& table) {
  std::vector<std::string> labels;
  for (const ReportTable::Column& column : table.columns) labels.push_back(column.label());
  return labels;
}

TEST(Table, HasTheShapeOfReport000) {
  const Analysis analysis = analyse(report_000().journal);
  const std::vector<ReportTable> tables = lay_out(analysis);
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].axis, "threads");
  EXPECT_THAT(tables[0].counts, ElementsAre(1, 2, 3, 4, 5, 8));
  EXPECT_THAT(labels(tables[0]), ElementsAre("raw", "linear nograph", "linear graph"));
  EXPECT_THAT(tables[0].shared, ElementsAre("backend sim", "iterations=10"));
  EXPECT_EQ(tables[1].axis, "processes");
  EXPECT_THAT(tables[1].counts, ElementsAre(1, 2, 4, 6, 8));
  EXPECT_THAT(labels(tables[1]), ElementsAre("linear"));
}

TEST(Table, WhateverElseVariesIsInTheLabel) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=2").ran(1);
  sample.plan("cpu/add/default/threads=2/iterations=100").ran(1);
  sample.plan("cpu/add/default/threads=2/lock=forward").ran(1);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_THAT(labels(lay_out(analysis)[0]), ElementsAre("add, iterations=10", "add, iterations=100",
                                                        "add, iterations=10, lock=forward"));
}

TEST(Table, EachBlockShowsAllOfItsCellsAndTheSumsCountThemOnce) {
  SampleJournal sample;
  sample.block("threads");
  sample.plan("cpu/add/default/threads=1").ran(10);
  sample.plan("cpu/add/default/threads=2").ran(10);
  sample.block("another operation");
  sample.plan("cpu/mm/default/threads=1").ran(10);
  sample.journal.header.cells.push_back(CellGrid{
      "a boundary",
      {{"backend", {"cpu"}}, {"op", {"add"}}, {"iterations", {"10"}}, {"threads", {"1", "2", "3"}}},
      {{2, 1}},
      {{0, 2}}});
  const Analysis analysis = analyse(sample.journal);
  const std::vector<ReportTable> tables = lay_out(analysis);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[1].title, "another operation");
  const ReportTable& table = tables[2];
  EXPECT_EQ(table.title, "a boundary");
  EXPECT_THAT(table.counts, ElementsAre(1, 2, 3));
  ASSERT_EQ(table.columns.size(), 1U);
  EXPECT_EQ(table.columns[0].entries[1].cell->counted, 10);
  EXPECT_EQ(table.columns[0].entries[1].cell->block, "threads");
  EXPECT_EQ(analysis.counted, 30);
  EXPECT_EQ(analysis.cells.size(), 4U);
}

TEST(Table, LeftOutIsToldFromNotPlanned) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(1);
  sample.plan("cpu/mm/default/threads=1").ran(1);
  sample.plan("cpu/mm/default/threads=2").ran(1);
  sample.plan("cpu/mm/default/threads=4").ran(1);
  sample.left_out("cpu/add/default/threads=2", "a reason");
  const Analysis analysis = analyse(sample.journal);
  const std::vector<ReportTable::Entry> entries = lay_out(analysis)[0].columns[0].entries;
  EXPECT_NE(entries[0].cell, nullptr);
  EXPECT_TRUE(entries[1].left_out);
  EXPECT_FALSE(entries[2].left_out);
}

TEST(Table, WorkersAreColumns) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan("cpu/add/default/threads=2").ran(1).ran(1, 1, SampleJournal::segfault(), "fork");
  const Analysis analysis = analyse(sample.journal);
  EXPECT_THAT(labels(lay_out(analysis)[0]), ElementsAre("add (stock)", "add (fork)"));
}

}  // namespace
}  // namespace mpsprobe
