/** The language as Jinja2 3.1 has it (each text was made by it), and the bounds of a rendering. */
import { describe, expect, it } from "vitest";
import { type BoundName, TemplateBound, TemplateFailure } from "./errors.ts";
import { parseTemplate, renderTemplate } from "./template.ts";

const variables = '{"messages": [{"role": "user", "content": null}], "text": "aXb", "huge": 12345678901234567890, "one": 1.0}';
const render = (template: string, given = variables): string =>
  renderTemplate(parseTemplate(template), given, { now: new Date(2026, 10, 26, 12, 0) });

/** Small ones, so that the tests are quick. */
const limits = { steps: 100_000, bytes: 2 ** 22 };

/** The error of a template. */
function failure(template: string): Error {
  try {
    renderTemplate(parseTemplate(template), variables, { now: new Date(0), limits });
  } catch (error) {
    return error as Error;
  }
  throw new Error(`${template} does not fail`);
}

describe("templates", () => {
  it.each([
    ["{% set x = 0 %}{% for i in [1, 2] %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}", "01020"],
    ["{% for i in [1, 2, 3] %}<{{ i }}{% if i == 2 %}{% continue %}{% endif %}>{% endfor %}", "<1><2<3>"],
    ["{% for c in text %}{{ c }}{% if c == 'X' %}{% break %}{% endif %}{% endfor %}", "aX"],
    ["{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, 2) }}{{ f() }}", "1112"],
    ["{% macro f() %}{{ caller(1) }}{% endmacro %}{% call(q) f() %}{{ q }}!{% endcall %}", "1!"],
    ["{% generation %}{% set q = 1 %}a{% endgeneration %}{{ q }}", "a"],
    [
      "{{ huge }} {{ huge + 1 }} {{ one }} {{ messages[0].content }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** -1 }}",
      "12345678901234567890 12345678901234567891 1.0 None -4 2 0.5",
    ],
    ["{{ 1e16 }} {{ 0.00001 }} {{ 1.25 | round(1) }} {{ 2.5 | round }} {{ 1.005 | round(2) }}", "1e+16 1e-05 1.2 2.0 1.0"],
    ["{{ [1, 'a', none, 1.0, true] }} {{ (1,) }} {{ {'a': \"it's\"} }}", "[1, 'a', None, 1.0, True] (1,) {'a': \"it's\"}"],
    ["{{ {1: 'a', true: 'b'} }}{{ 1.0 in [1] }}{{ '1' == 1 }}{{ 1 < 2 < 3 }}", "{1: 'b'}TrueFalseTrue"],
    ["{{ {'b': [1, 2.0], 'a': '<é>'} | tojson }}{{ [1] | tojson(indent=1) }}", '{"b": [1, 2.0], "a": "<é>"}[\n 1\n]'],
    [
      "{{ messages[0].items }}|{{ {'items': 1}.items() | list }}|{{ {'items': 1}['items'] }}",
      expect.stringMatching(/^<.*>\|\[\('items', 1\)\]\|1$/),
    ],
    ["{{ text.lower().split('x') }}{{ '%s-%05.1f' % ('a', 2.25) }}{{ '{0[a]:>3}'.format({'a': 1}) }}", "['a', 'b']a-002.2  1"],
    ["{{ '😀a'[1] }}{{ '😀' | length }}{{ 'a😀'[::-1] }}", "a1😀a"],
    ["{{ nothing }}{{ nothing is defined }}{{ messages[9] | default('d') }}", "Falsed"],
    ["{{ ('<a>' | safe) + '<b>' }}{{ '<a>' | e ~ '<b>' }}", "<a>&lt;b&gt;&lt;a&gt;<b>"],
    ["a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc"],
    ["{% for i in range(5) if i is odd %}{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% endfor %}", "1/2False 2/2True "],
    ["{{ strftime_now('%d %b %Y') }}", "26 Nov 2026"],
  ])("%s", (template, expected) => {
    expect(render(template)).toEqual(expected);
  });

  it.each([
    ["\n{{ nothing.a }}", 2, "'nothing' is undefined"],
    ["{{ 'a' + 1 }}", 1, 'can only concatenate str (not "int") to str'],
    ["\n\n{{ [].append(1) }}", 3, "access to attribute 'append' of 'list' object is unsafe."],
    ["{{ text.__class__.__mro__ }}", 1, "access to attribute '__class__' of 'str' object is unsafe."],
    ["{% set a.b = 1 %}", 1, "cannot assign attribute on non-namespace object"],
    ["{{ range(100001) }}", 1, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)."],
    ["{% include 'x' %}", 1, "Encountered unknown tag 'include'."],
    ["{{ 1 | nothing }}", 1, "No filter named 'nothing'."],
    ["\n{% if true %}", 2, "Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'."],
  ])("fail with their line: %j", (template, line, message) => {
    const error = failure(template);
    expect(error).toBeInstanceOf(TemplateFailure);
    expect(error).toMatchObject({ line, message });
  });

  const nested = (opening: string): string =>
    `{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = ${opening} %}{% endfor %}`;
  const hostile: readonly (readonly [BoundName, string])[] = [
    ["steps", "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}"],
    ["steps", `${nested("[ns.x, ns.x]")}{{ ns.x | tojson }}`],
    ["steps", `${nested("[ns.x, ns.x]")}{% set y = ns.x %}${nested("[ns.x, ns.x]")}{{ ns.x == y }}`],
    ["steps", "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}"],
    ["bytes", nested("ns.x + ns.x")],
    ["bytes", "{{ [[1]] | tojson(indent=100000000) }}"],
    ["bytes", "{{ 'a' * 1000000000 }}"],
    ["bytes", "{{ [1] * 1000000000 }}"],
    ["bytes", "{% set t = 'a' * 1000000 %}{{ t.replace('a', t) }}"],
    ["bytes", "{% set t = 'a' * 100000 %}{{ ([t] * 1000) | join(t) }}"],
    ["bytes", "{% set t = 'a' * 1000000 %}{{ ('a' * 500000 ~ 'b') in t }}"],
    ["bytes", "{% set ns = namespace(t='x') %}{% for a in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}"],
    ["bytes", "{{ '%1000000000d' % 1 }}"],
    ["bytes", "{{ 'a'.center(1000000000) }}"],
    ["bytes", "{{ 'a' | indent(1000000000) }}"],
    ["digits", "{{ 10 ** 100000000 }}"],
    ["nesting", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"],
    ["nesting", "{% set ns = namespace(x=[1]) %}{% for i in range(2000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}"],
    [
      "nesting",
      "{% set ns = namespace(x=[1]) %}{% for i in range(2000) %}{% set ns.x = ns.x | map('upper') %}{% endfor %}{{ ns.x | list }}",
    ],
    ["nesting", `{{ ${"(".repeat(10_000)}1${")".repeat(10_000)} }}`],
    ["nesting", `{{ ${"not ".repeat(10_000)} }}`],
    ["nesting", "{% if 1 %}".repeat(10_000)],
    ["characters", "a".repeat(500_001)],
  ];
  it.each(hostile)("go no further than a bound of %s (%#)", (bound, template) => {
    const error = failure(template);
    expect(error).toBeInstanceOf(TemplateBound);
    expect(error).toMatchObject({ bound, limit: expect.any(Number) });
    expect(failure(template).message).toBe(error.message); // and in the same way each time
  });

  it("may be long, and are parsed in one pass", () => {
    expect(render(`{{ 1${" + 1".repeat(100_000)} }}`)).toBe("100001");
    expect(render("{{ 1 }}".repeat(70_000))).toHaveLength(70_000);
    expect(failure("{#".repeat(200_000)).message).toContain("Missing end of comment tag");
    expect(failure("{% raw %}".repeat(50_000)).message).toContain("Missing end of raw directive");
  });

  it("may take more for a longer conversation, and no more than that by default", () => {
    const template = "{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}";
    const limitOf = (count: number): number => {
      try {
        return render(template, JSON.stringify({ messages: Array.from({ length: count }, () => "x".repeat(90)) })).length;
      } catch (error) {
        return (error as TemplateBound).limit;
      }
    };
    const [one, hundred, thousand] = [limitOf(1), limitOf(100), limitOf(1000)];
    expect(hundred).toBeGreaterThan(one);
    expect((thousand - hundred) / (hundred - one)).toBeCloseTo(900 / 99, 0);
  });
});
