#include <boost/test/unit_test.hpp>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

// What OpenTofu 1.12 answers.
BOOST_AUTO_TEST_CASE(string_functions_answer_as_opentofu) {
  const Row rows[] = {
      {"chomp takes all line ends", "chomp", R"(["a\r\r\n\n\r"])", R"("a")"},
      {"endswith", "endswith", R"(["hello","lo"])", R"(true)"},
      {"endswith not", "endswith", R"(["hello","lox"])", R"(false)"},
      {"indent", "indent", R"([2,"a\nb\n\nc"])", R"("a\n  b\n  \n  c")"},
      {"indent at the end", "indent", R"([2,"a\n"])", R"("a\n  ")"},
      {"indent a fraction", "indent", R"([1.5,"a"])",
       R"(error: value must be a whole number, between -9223372036854775808 and 9223372036854775807)"},
      {"join", "join", R"(["-",["a","b"],["c"]])", R"("a-b-c")"},
      {"join nothing", "join", R"(["-",[]])", R"("")"},
      {"join without a list", "join", R"(["-"])", R"(error: at least one list is required)"},
      {"join a null", "join", R"([",",[null]])", R"(error lists: element 0 is null; cannot concatenate null values)"},
      {"join a null of several lists", "join", R"([",",["a"],["b",null]])",
       R"(error lists: element 1 of list 2 is null; cannot concatenate null values)"},
      {"join numbers", "join", R"([",",[1,true]])", R"("1,true")"},
      {"lower", "lower", R"(["ÀÉ ǅ İ"])", R"("àé ǆ i")"},
      {"upper", "upper", R"(["àß ǆ ŉ ı"])", R"("Àß Ǆ ŉ I")"},
      {"title", "title", R"(["ß foo-bar ñ_x ǆ a.b c'd é"])", R"("ß Foo-Bar Ñ_x ǅ A.B C'D É")"},
      {"split", "split", R"([",","a,b,,c"])", R"(["a","b","","c"])"},
      {"split the empty text", "split", R"([",",""])", R"([""])"},
      {"split by nothing", "split", R"(["","añb"])", R"(["a","ñ","b"])"},
      {"split nothing by nothing", "split", R"(["",""])", R"([])"},
      {"split at the end", "split", R"([",","a,"])", R"(["a",""])"},
      {"startswith", "startswith", R"(["hello","he"])", R"(true)"},
      {"strcontains", "strcontains", R"(["hello","ell"])", R"(true)"},
      {"strcontains the empty text", "strcontains", R"(["",""])", R"(true)"},
      {"strrev", "strrev", R"(["ae\u0323b👩‍👩‍👧c"])", R"("c👩‍👩‍👧bẹa")"},
      {"substr", "substr", R"(["hello world",1,4])", R"("ello")"},
      {"substr from the end", "substr", R"(["hello",-2,2])", R"("lo")"},
      {"substr to the end", "substr", R"(["hello",1,-2])", R"("ello")"},
      {"substr of length 0", "substr", R"(["hello",1,0])", R"("")"},
      {"substr of length 0 from the end", "substr", R"(["hello",-2,0])", R"("lo")"},
      {"substr before the start", "substr", R"(["hello",-9,2])", R"("he")"},
      {"substr behind the end", "substr", R"(["hello",9,2])", R"("")"},
      {"substr of clusters", "substr", R"(["a👩‍👩‍👧bc",1,2])", R"("👩‍👩‍👧b")"},
      {"substr at a fraction", "substr", R"(["a",1.5,0])",
       R"(error: value must be a whole number, between -9223372036854775808 and 9223372036854775807)"},
      {"trim", "trim", R"(["?!héllo?é!","!?é"])", R"("héllo")"},
      {"trim all", "trim", R"(["aaa","a"])", R"("")"},
      {"trimprefix", "trimprefix", R"(["hello","he"])", R"("llo")"},
      {"trimprefix not there", "trimprefix", R"(["hello","x"])", R"("hello")"},
      {"trimsuffix", "trimsuffix", R"(["hello","lo"])", R"("hel")"},
      {"trimspace", "trimspace", R"(["\t\u00a0\u2003 hi \u0085\r\n"])", R"("hi")"},
  };
  check(rows);
}

}  // namespace modlock::eval::test
