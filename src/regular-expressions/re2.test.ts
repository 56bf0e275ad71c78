import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fullMatcher } from "./re2.ts";

const patterns = [
  "",
  "a|b|",
  "(\\W|^)[\\w.\\-]{0,25}@(yahoo|gmail)\\.com(\\W|$)",
  "(ab*)+c?",
  "[^a-c]x{2,3}?",
  "\\bab\\b",
  "(?:a|ab)(?:c|bcd)(?:d*)",
  "a{0}b",
  "[\\]a-]+",
  "(a?){3}a{3}",
  "(?<name>a)\\.?",
  "^a$|.b",
];

describe("fullMatcher", () => {
  it.each(patterns)("agrees with JavaScript on whole texts: %s", (pattern) => {
    const matches = fullMatcher(pattern);
    const same = new RegExp(`^(?:${pattern.replaceAll("(?P<", "(?<")})$`, "u");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...Array.from("abcdx@. ]-é"), "a@gmail.com", "ab", "xx", "yahoo"), { maxLength: 6 }),
        (parts) => {
          expect(matches(parts.join(""))).toBe(same.test(parts.join("")));
        },
      ),
    );
  });

  it("knows what RE2 has and JavaScript has not", () => {
    expect(fullMatcher("(?i)ABC")("aBc")).toBe(true);
    expect(fullMatcher("a(?i:B)c")("abC")).toBe(false);
    expect(fullMatcher("[[:alpha:]]+\\d")("abc1")).toBe(true);
    expect(fullMatcher("[[:^alpha:]]")("a")).toBe(false);
    expect(fullMatcher("\\Qa.b*\\E")("a.b*")).toBe(true);
    expect(fullMatcher("\\Qab\\E+")("abb")).toBe(true);
    expect(fullMatcher("\\Qab\\E+")("abab")).toBe(false);
    expect(fullMatcher("\\pL\\p{Greek}\\P{Lu}")("xαy")).toBe(true);
    expect(fullMatcher("\\x41\\x{1F600}\\101")("A😀A")).toBe(true);
    expect(fullMatcher("\\Aa\\z")("a")).toBe(true);
    expect(fullMatcher("a.b")("a\nb")).toBe(false);
    expect(fullMatcher("(?s)a.b")("a\nb")).toBe(true);
    expect(fullMatcher("(?m)a$\n^b")("a\nb")).toBe(true);
  });

  it("takes linear time where backtracking would not end", () => {
    expect(fullMatcher("(a*)*b")("a".repeat(50_000))).toBe(false);
    expect(fullMatcher("(a|aa)+$")(`${"a".repeat(20_000)}!`)).toBe(false);
  });

  it.each([
    "(a",
    "a)",
    "[a",
    "a**",
    "*a",
    "(a)\\1",
    "(?=a)",
    "\\C",
    "a{3,2}",
    "a{2000}",
    "(((){1000}){1000}){1000}",
    "(a{1000}){1000}",
    "\\p{Nobody}",
    "(".repeat(5000),
  ])("refuses %s", (pattern) => {
    expect(() => fullMatcher(pattern)).toThrow(/pattern/);
  });
});
