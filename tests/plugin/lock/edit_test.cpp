#include "plugin/lock/edit.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "backends/base/digest.h"
#include "plugin/lock/lock_file.h"
#include "tests/plugin/lock/samples.h"
#include "tests/plugin/lock/shell.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(edit)

BOOST_AUTO_TEST_CASE(nothing_changes) {
  BOOST_TEST(diff_edits("a\n", "a\n").empty());
  BOOST_TEST(!make_document_edit("x", "a\n", "a\n").has_value());
  BOOST_TEST(!make_document_edit("x", "", "").has_value());
}

BOOST_AUTO_TEST_CASE(one_edit_per_run_of_lines) {
  const std::vector<RangeEdit> edits = diff_edits("a\nb\nc\nd\n", "a\nX\nY\nc\n");
  BOOST_TEST_REQUIRE(edits.size() == 2U);
  BOOST_TEST(edits[0].start == 2U);
  BOOST_TEST(edits[0].end == 4U);
  BOOST_TEST(edits[0].old_text == "b\n");
  BOOST_TEST(edits[0].new_text == "X\nY\n");
  BOOST_TEST((edits[0].range == Range{{2, 1, 2}, {3, 1, 4}}));
  BOOST_TEST(edits[1].old_text == "d\n");
  BOOST_TEST(edits[1].new_text == "");
  BOOST_TEST((edits[1].range == Range{{4, 1, 6}, {5, 1, 8}}));
}

BOOST_AUTO_TEST_CASE(columns_count_grapheme_clusters) {
  struct Row {
    const char* name;
    std::string_view before;
    Position end;
  };
  const Row rows[] = {
      {"ascii", "a\nbcd", {2, 4, 5}},
      {"combining", "e\xCC\x81x", {1, 3, 4}},
      {"family",
       "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7\xE2\x80\x8D\xF0\x9F\x91\xA6",
       {1, 2, 25}},
      {"no utf-8", "\xFF\xFE", {1, 3, 2}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::vector<RangeEdit> edits = diff_edits(row.before, "");
      BOOST_TEST_REQUIRE(edits.size() == 1U);
      BOOST_TEST((edits[0].range.end == row.end));
    }
  }
}

BOOST_AUTO_TEST_CASE(created_document) {
  const auto edit = make_document_edit(".terraform.lock.hcl", std::nullopt, "a\n");
  BOOST_TEST_REQUIRE(edit.has_value());
  BOOST_TEST(edit->path == ".terraform.lock.hcl");
  BOOST_TEST((edit->operation == EditOperation::create));
  BOOST_TEST(!edit->base_sha256.has_value());
  BOOST_TEST(edit->new_text.value() == "a\n");
  BOOST_TEST(edit->result_sha256 == "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7");
  BOOST_TEST(apply_edits("", *edit->edits) == "a\n");
}

BOOST_AUTO_TEST_CASE(created_empty_document) {
  const auto edit = make_document_edit("x", std::nullopt, "");
  BOOST_TEST_REQUIRE(edit.has_value());
  BOOST_TEST(edit->edits->empty());
  BOOST_TEST(edit->result_sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

BOOST_AUTO_TEST_CASE(modified_document) {
  const auto edit = make_document_edit("x", "a\n", "b\n");
  BOOST_TEST_REQUIRE(edit.has_value());
  BOOST_TEST((edit->operation == EditOperation::modify));
  BOOST_TEST(edit->base_sha256.value() == "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7");
  BOOST_TEST(edit->result_sha256 == "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f");
}

BOOST_AUTO_TEST_CASE(generated_edits_give_the_result) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const ModuleLocks first = random_locks(random);
    const ModuleLocks second = random_locks(random);
    const std::string start = random() % 2 == 0 ? kHeader + kProviders : kHeader;
    const LockFile base{.text = start};
    const std::string before = write_lock(base, first);
    const std::string after = write_lock(base, second);
    const std::vector<RangeEdit> edits = diff_edits(before, after);
    BOOST_TEST_CONTEXT("round " << round) {
      BOOST_TEST_REQUIRE(apply_edits(before, edits) == after);
      std::size_t done = 0;
      for (const RangeEdit& edit : edits) {
        BOOST_TEST_REQUIRE(done <= edit.start);
        BOOST_TEST_REQUIRE(before.substr(edit.start, edit.end - edit.start) == edit.old_text);
        BOOST_TEST_REQUIRE(edit.range.start.byte == edit.start);
        BOOST_TEST_REQUIRE(edit.range.end.byte == edit.end);
        done = edit.end + 1;
      }
      if (const auto document = make_document_edit("x", before, after)) {
        BOOST_TEST_REQUIRE(document->base_sha256.value() == sha256_hex(before));
        BOOST_TEST_REQUIRE(document->result_sha256 == sha256_hex(apply_edits(before, *document->edits)));
      } else {
        BOOST_TEST_REQUIRE(before == after);
      }
    }
  }
}

// Lines of any end, a byte order mark, letters of several bytes, and whatever is left of them where they are cut.
std::string random_text(std::mt19937& random) {
  const std::string_view parts[] = {"a",  "b",    "a\n",          "b\n",       "\n", "\r\n", "\r",
                                    "\t", "\xC3", "\xEF\xBB\xBF", "e\xCC\x81", "{",  "}\n",  std::string_view("\0", 1)};
  std::string text;
  for (auto left = random() % 24; left > 0; --left) {
    text += parts[random() % std::size(parts)];
  }
  return text;
}

bool is_line_start(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == '\n';
}

// An edit starts at a line, ends at one or at the end of the base, and leaves no line in two parts.
bool replaces_whole_lines(const RangeEdit& edit, std::string_view before) {
  const bool ends_text = edit.end == before.size();
  return is_line_start(before, edit.start) && edit.range.start.column == 1 &&
         (ends_text || (is_line_start(before, edit.end) && edit.range.end.column == 1)) &&
         (ends_text || edit.new_text.empty() || edit.new_text.back() == '\n');
}

BOOST_AUTO_TEST_CASE(every_form_of_a_change_gives_the_same_result) {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    const std::string before = random_text(random);
    const std::string after = random_text(random);
    const auto document = make_document_edit("x", before, after);
    BOOST_TEST_REQUIRE(document.has_value() == (before != after), "round " << round);
    if (!document) {
      continue;
    }
    bool is_sound = document->new_text == after && document->base_sha256 == sha256_hex(before) &&
                    document->result_sha256 == sha256_hex(after) && apply_edits(before, *document->edits) == after;
    std::size_t done = 0;
    for (const RangeEdit& edit : *document->edits) {
      const auto line = 1 + std::count(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(edit.start), '\n');
      is_sound = is_sound && done <= edit.start && edit.start <= edit.end && edit.end <= before.size() &&
                 before.substr(edit.start, edit.end - edit.start) == edit.old_text && edit.old_text != edit.new_text &&
                 edit.range.start.byte == edit.start && edit.range.end.byte == edit.end &&
                 edit.range.start.line == static_cast<std::size_t>(line) && replaces_whole_lines(edit, before);
      done = edit.end;
    }
    BOOST_TEST_REQUIRE(is_sound, "round " << round);
  }
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// What diff(1) prints for the two texts.
std::string system_diff(const TemporaryDirectory& directory, const std::string& before, const std::string& after) {
  directory.write("before", before);
  directory.write("after", after);
  const ShellResult result = run_shell("cd '" + directory.path().string() +
                                       "' && LC_ALL=C diff -u --label lock.hcl --label lock.hcl before after");
  BOOST_TEST_REQUIRE(result.exit_code == (before == after ? 0 : 1), "diff(1) is needed");
  return result.output;
}

ModuleLock module_of(int number) {
  const std::string text = std::to_string(number);
  return {.key = "m" + text,
          .version = "1." + text + ".0",
          .source = "git::https://example.com/m" + text + ".git",
          .constraints = "~> 1." + text,
          .hashes = {"git:" + text, "h1:" + text}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unified)

BOOST_AUTO_TEST_CASE(text) {
  BOOST_TEST(unified_diff("x", "a\n", "a\n") == "");
  BOOST_TEST(unified_diff("x", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n") ==
             "--- x\n+++ x\n@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+six\n");
  BOOST_TEST(unified_diff("x", "", "a") == "--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
}

BOOST_AUTO_TEST_CASE(same_as_diff) {
  const LockFile empty;
  const LockFile with_providers{.text = kHeader + kProviders};
  ModuleLocks ten;
  for (int i = 0; i < 10; ++i) {
    ten.emplace("m" + std::to_string(i), module_of(i));
  }
  ModuleLocks nine = ten;
  nine.erase("m4");
  ModuleLocks upgraded = ten;
  upgraded.at("m3").version = "2.0.0";
  upgraded.at("m3").hashes = {"git:333", "h1:333"};
  upgraded.at("m9").version = "2.0.0";
  upgraded.at("m0").constraints.reset();
  const std::string all = write_lock(with_providers, ten);
  struct Row {
    const char* name;
    std::string before;
    std::string after;
  };
  const Row rows[] = {
      {"created", "", write_lock(empty, ten)},
      {"deleted", all, ""},
      {"first modules", with_providers.text, all},
      {"modules dropped", all, with_providers.text},
      {"one module gone", all, write_lock(with_providers, nine)},
      {"one module new", write_lock(with_providers, nine), all},
      {"upgraded", all, write_lock(with_providers, upgraded)},
      {"upgraded and one gone", write_lock(with_providers, nine), write_lock(with_providers, upgraded)},
      {"no final line end", "a\nb", "a\nc"},
      {"final line end added", "a\nb", "a\nb\n"},
      {"final line end lost", "a\nb\n", "a\nb"},
      {"crlf", "a\r\nb\r\n", "a\r\nc\r\n"},
      {"equal", all, all},
  };
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(unified_diff("lock.hcl", row.before, row.after) == system_diff(directory, row.before, row.after));
    }
  }
}

// Lines that occur once and keep their order leave only one smallest diff.
BOOST_AUTO_TEST_CASE(generated_texts_same_as_diff) {
  std::mt19937 random(11);
  const TemporaryDirectory directory;
  for (int round = 0; round < 60; ++round) {
    std::string before;
    std::string after;
    for (int line = 0; line < 60; ++line) {
      const std::string text = "line " + std::to_string(line) + "\n";
      const auto what = random() % 12;
      before += what == 0 ? "" : text;
      after += what == 1 ? "" : what == 2 ? "changed " + text : text;
    }
    BOOST_TEST_CONTEXT("round " << round) {
      BOOST_TEST_REQUIRE(unified_diff("lock.hcl", before, after) == system_diff(directory, before, after));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
