#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/plugin/hcl/tree_shape.h"

namespace {

using modlock::hcl::test::shape_of_value;

BOOST_AUTO_TEST_SUITE(parser_template)

struct Row {
  const char* name;
  std::string text;
  std::string shape;
};

template <std::size_t size>
void check(const Row (&rows)[size]) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shape_of_value(row.text) == row.shape);
    }
  }
}

BOOST_AUTO_TEST_CASE(text_and_escapes) {
  check({
      {"empty", R"("")", "string[]"},
      {"plain", R"("a # b // c /* d")", "string['a # b // c /* d']"},
      {"all short escapes", R"("\n\r\t\"\\")", "string['\n\r\t\"\\']"},
      {"unicode escapes", R"("\u00e9\U0001F600")", "string['é😀']"},
      {"the NUL character as an escape", R"("a\u0000b")", std::string("string['a\0b']", 13)},
      {"lone signs", R"("$ % $$ %% $} a$")", "string['$ % $$ %% $} a$']"},
      {"escaped sequences", R"("$${a} %%{b}")", "string['${a} %{b}']"},
      {"one sign goes away", R"("$$${a}")", "string['$${a}']"},
      {"one sign goes away of four", R"("$$$${a}")", "string['$$${a}']"},
      {"another sign before a sequence", R"("%${a}$%{ if b }%{ endif }")", "string['%' {a} '$' if(b |  | )]"},
      {"a line separator is text", "\"\u2028\"", "string['\u2028']"},
      {"unknown escape", R"("a\d")",
       R"(error: expected one of \n \r \t \" \\ \uXXXX \UXXXXXXXX after a backslash, found "\d")"},
      {"a backslash guards no interpolation", R"("\${a}")",
       R"(error: expected one of \n \r \t \" \\ \uXXXX \UXXXXXXXX after a backslash, found "\$")"},
      {"short unicode escape", R"("\u00e")", R"(error: expected 4 hexadecimal digits after \u, found 3)"},
      {"surrogate", R"("\ud800")", R"(error: expected a Unicode character, found \ud800)"},
      {"beyond Unicode", R"("\U00110000")", R"(error: expected a Unicode character, found \U00110000)"},
  });
}

BOOST_AUTO_TEST_CASE(sequences) {
  check({
      {"interpolation alone", R"("${a}")", "string[{a}]"},
      {"interpolation in text", R"("p${a}s")", "string['p' {a} 's']"},
      {"strings and braces nest", R"("p${x == "X" ? "y}" : "n"}q")",
       "string['p' {(? (== x string['X']) string['y}'] string['n'])} 'q']"},
      {"object in an interpolation", R"("${ {a = 1}.a }")", "string[{(. (object bare:a=1) a)}]"},
      {"line ends in an interpolation", "\"${\na\n}\"", "string[{a}]"},
      {"comments in an interpolation", "\"${ a # c\n}\"", "string[{a}]"},
      {"strip markers", R"("a  ${~ b ~}  c")", "string['a' {b} 'c']"},
      {"if", R"("%{ if a }b%{ endif }")", "string[if(a | 'b' | )]"},
      {"if with else", R"("%{ if a }b%{ else }c%{ endif }")", "string[if(a | 'b' | 'c')]"},
      {"for", R"("%{ for k, v in a }${k}%{ endfor }")", "string[for(k,v in a | {k})]"},
      {"directives nest", R"("%{ for v in a }%{ if v }x%{ endif }%{ endfor }y")",
       "string[for(,v in a | if(v | 'x' | )) 'y']"},
      {"directives strip", R"("a %{~ if b ~} c %{~ endif ~} d")", "string['a' if(b | 'c' | ) 'd']"},
      {"empty interpolation", R"("${}")", "error: expected a value, found \"}\""},
      {"two values", R"("${a b}")", "error: expected \"}\" to end the interpolation, found \"b\""},
      {"unknown directive", R"("%{ foo }")",
       "error: expected if, else, endif, for or endfor after \"%{\", found \"foo\""},
      {"no endif", R"("%{ if a }")", "error: the directive that starts here is never ended: expected %{ endif }"},
      {"no endfor", R"("%{ for a in b }")",
       "error: the directive that starts here is never ended: expected %{ endfor }"},
      {"no if", R"("%{ endif }")", "error: unexpected directive: expected an if or a for before it"},
      {"for ended as if", R"("%{ for a in b }%{ endif }")", "error: expected %{ endfor } before this directive"},
      {"second else", R"("%{ if a }%{ else }%{ else }%{ endif }")", "error: expected %{ endif } before this directive"},
  });
}

BOOST_AUTO_TEST_CASE(heredocs) {
  check({
      {"lines", "<<EOT\na\n b\nEOT\n", "heredoc['a\n b\n']"},
      {"empty", "<<EOT\nEOT\n", "heredoc[]"},
      {"no escapes", "<<EOT\na\\n\"\nEOT\n", "heredoc['a\\n\"\n']"},
      {"escaped sequences", "<<EOT\n$${a}%%{b}\nEOT\n", "heredoc['${a}%{b}\n']"},
      {"marker with a dash", "<<E-F\na\nE-F\n", "heredoc['a\n']"},
      {"blanks round the closing marker", "<<EOT\na\n \tEOT \t\n", "heredoc['a\n']"},
      {"text behind the marker keeps it open", "<<EOT\nEOT,\nEOT\n", "heredoc['EOT,\n']"},
      {"the marker starts its line", "<<EOT\n${a}EOT\nEOT\n", "heredoc[{a} 'EOT\n']"},
      {"carriage returns stay", "<<EOT\r\na\r\nEOT\r\n", "heredoc['a\r\n']"},
      {"heredoc in a heredoc", "<<A\n${<<B\nb\nB\n}\nA\n", "heredoc[{heredoc['b\n']} '\n']"},
      {"in brackets", "[<<A\na\nA\n, 1]", "(tuple heredoc['a\n'] 1)"},
      {"behind a less-than", "1<<<A\na\nA\n", "(< 1 heredoc['a\n'])"},
      {"strip takes the line end", "<<A\na ${b ~}\n  c\nA\n", "heredoc['a ' {b} '  c\n']"},
      {"strip takes the line end before", "<<A\na\n${~ b }\nA\n", "heredoc['a' {b} '\n']"},
      {"blank behind the marker", "<<EOT \nEOT\n",
       "error: expected a heredoc marker and the end of the line directly after \"<<\""},
      {"quoted marker", "<<\"EOT\"\nEOT\n",
       "error: expected a heredoc marker and the end of the line directly after \"<<\""},
      {"blank before the marker", "<< EOT\nEOT\n",
       "error: expected a heredoc marker and the end of the line directly after \"<<\""},
      {"no line end behind the closing marker", "<<EOT\na\nEOT",
       "error: the heredoc that starts here has no closing line: expected a line with only \"EOT\""},
      {"lone carriage return", "<<EOT\na\rb\nEOT\n", "error: a carriage return is not followed by a line feed"},
  });
}

BOOST_AUTO_TEST_CASE(heredoc_indentation) {
  check({
      {"common part goes away", "<<-A\n    a\n      b\n    A\n", "heredoc['a\n  b\n']"},
      {"the marker's own does not count", "<<-A\n  a\nA\n", "heredoc['a\n']"},
      {"blank lines neither count nor change", "<<-A\n    a\n  \n\n    b\n  A\n", "heredoc['a\n  \n\nb\n']"},
      {"a tab is one character", "<<-A\n\ta\n  b\n  A\n", "heredoc['a\n b\n']"},
      {"any Unicode blank is one character", "<<-A\n\u00a0\u3000a\n  b\n  A\n", "heredoc['a\nb\n']"},
      {"an interpolation at the line start counts as none", "<<-A\n  a\n${b}\n  A\n", "heredoc['  a\n' {b} '\n']"},
      {"blanks before an interpolation count", "<<-A\n    a\n  ${b}\n  A\n", "heredoc['  a\n' {b} '\n']"},
      {"without the dash nothing goes away", "<<A\n  a\n  A\n", "heredoc['  a\n']"},
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
