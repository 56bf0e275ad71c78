/** Schemas as they are written: numbers of any size, the draft that `$schema` names, and white space as printers write it. */
import { describe, expect, it, test } from "vitest";
import { parseJson } from "../../../../formats/json/exact-json.ts";
import { compileSource } from "../../chat/answer-grammar.ts";
import { PushdownMachine } from "../grammar/pushdown-machine.ts";
import { constraintSource } from "../text-constraint.ts";

/** Whether texts fit the text of a schema, as a server reads it and a thread compiles it. */
function acceptorOf(schema: string): (text: string) => boolean {
  const { text: source } = constraintSource({ type: "schema", schema: parseJson(schema) as object }, { unlistedMembers: true });
  const machine = new PushdownMachine(compileSource(source));
  return (text) => {
    let state: PushdownMachine["start"] | undefined = machine.start;
    for (const byte of new TextEncoder().encode(text)) state = state === undefined ? undefined : machine.step(state, byte);
    return state?.accepts === true;
  };
}

function expectAccepted(schema: string, valid: readonly string[], invalid: readonly string[]): void {
  const fits = acceptorOf(schema);
  expect(valid.filter((text) => !fits(text))).toEqual([]);
  expect(invalid.filter(fits)).toEqual([]);
}

describe("numbers", () => {
  const id = "1234567890123456789";
  test.each([
    [`{"const":${id}}`, [id], ["1234567890123456800", "1234567890123456788"]],
    [`{"enum":[${id},1.0,1e5,"a"]}`, [id, "1.0", "1e5", '"a"'], ["1234567890123456800", "1", "100000"]],
    ['{"const":{"10":"ten","9":[1.50]}}', ['{"10":"ten","9":[1.50]}', '{"9":[1.50],"10":"ten"}'], ['{"10":"ten","9":[1.5]}']],
    [
      `{"type":"integer","minimum":${id},"maximum":1234567890123456791}`,
      [id, "1234567890123456790"],
      ["1234567890123456788", "1234567890123456792"],
    ],
    ['{"type":"number","exclusiveMinimum":9007199254740992.0}', ["9007199254740993", "9007199254740992.5"], ["9007199254740992"]],
    ['{"type":"integer","multipleOf":1e1,"minimum":5.0}', ["10", "200"], ["0", "15"]],
    ['{"allOf":[{"enum":[1.0,2]},{"enum":[1e0,3]}]}', ["1e0"], ["2", "3"]],
    [`{"enum":[${id},5],"minimum":6}`, [id], ["5"]],
    ['{"type":"string","minLength":2.0,"maxLength":3e0}', ['"ab"', '"abc"'], ['"a"', '"abcd"']],
    ['{"type":"integer","const":3.0}', ["3.0"], ["4"]],
  ])("%s are those that are written", expectAccepted);

  it("of programs may be BigInt", () => {
    const { text } = constraintSource({ type: "schema", schema: { enum: [BigInt(id), { a: BigInt(id) }] } });
    expect(text).toContain(`{"enum":[${id},{"a":${id}}]}`);
  });

  it("beyond all measure are refused", () => {
    expect(() => acceptorOf('{"minimum":1e-999999999}')).toThrow(/minimum.*400 digits/);
    expect(() => acceptorOf('{"maximum":1e400}')).toThrow(/maximum.*must be a number/);
  });
});

describe("drafts", () => {
  const draft4 = '"$schema":"http://json-schema.org/draft-04/schema#"';
  const draft6 = '"$schema":"http://json-schema.org/draft-06/schema#"';
  const draft7 = '"$schema":"http://json-schema.org/draft-07/schema#"';
  const draft2019 = '"$schema":"https://json-schema.org/draft/2019-09/schema"';
  const draft2020 = '"$schema":"https://json-schema.org/draft/2020-12/schema"';
  test.each([
    [`{${draft4},"const":1,"type":"integer"}`, ["2"], []],
    [`{${draft4},"if":{"type":"string"},"then":false,"type":"string"}`, ['"a"'], []],
    [`{${draft6},"if":{"type":"string"},"then":false,"const":"a"}`, ['"a"'], ['"b"']],
    [`{${draft7},"if":{"type":"string"},"then":false}`, ["1"], ['"a"']],
    [`{${draft4},"minimum":1,"exclusiveMinimum":true,"type":"integer"}`, ["2"], ["1"]],
    [`{${draft4},"not":{"const":1,"type":"string"},"type":["string","integer"]}`, ["1"], ['"a"']],
    [`{${draft4},"properties":{"a":{"const":1,"type":"integer"}},"required":["a"],"type":"object"}`, ['{"a":2}'], ["{}"]],
    [
      `{${draft4},"id":"http://x/y","$id":"z","allOf":[{"$ref":"http://x/y#/definitions/a"}],"definitions":{"a":{"type":"integer"}}}`,
      ["1"],
      ['"a"'],
    ],
    [`{${draft7},"dependencies":{"a":["b"]},"type":"object"}`, ['{"a":1,"b":2}', "{}"], ['{"a":1}']],
    [`{${draft2019},"dependencies":{"a":["b"]},"type":"object"}`, ['{"a":1}'], []],
    [`{${draft7},"dependentRequired":{"a":["b"]},"type":"object"}`, ['{"a":1}'], []],
    [`{${draft7},"items":[{"type":"integer"}],"additionalItems":false,"type":"array"}`, ["[1]", "[]"], ["[1,2]", '["a"]']],
    [
      `{${draft2019},"items":[{"type":"integer"}],"additionalItems":false,"prefixItems":[false],"type":"array"}`,
      ["[1]"],
      ["[1,2]"],
    ],
    [
      `{${draft2020},"prefixItems":[{"type":"integer"}],"items":false,"additionalItems":{"type":"integer"},"type":"array"}`,
      ["[1]"],
      ["[1,2]"],
    ],
    [`{${draft7},"prefixItems":[false],"unevaluatedItems":false,"$dynamicRef":"#a","type":"array"}`, ["[1,2]"], []],
    [`{${draft7},"$ref":"#/$defs/a","minimum":5,"$defs":{"a":{"type":"integer"}}}`, ["1"], ['"a"']],
    [`{${draft2019},"$ref":"#/$defs/a","minimum":5,"$defs":{"a":{"type":"integer"}}}`, ["5"], ["1"]],
    [`{"const":"a","if":{"const":"a"},"then":true,"id":"x"}`, ['"a"'], ['"b"']],
    [`{"$schema":"http://json-schema.org/schema#","const":1}`, ["1"], ["2"]],
    [
      `{${draft7},"allOf":[{"$id":"http://x/old",${draft4},"type":"integer","const":1},{"$ref":"#/definitions/b"}],"definitions":{"b":{"const":2}}}`,
      ["2"],
      ["1"],
    ],
  ])("%s has the keywords of its draft", expectAccepted);

  it("are refused where they say what is not built, or something else", () => {
    expect(() => acceptorOf(`{${draft2019},"$recursiveRef":"#"}`)).toThrow(/recursiveRef/);
    expect(() => acceptorOf(`{${draft2020},"items":[{"type":"integer"}],"type":"array"}`)).toThrow(/items/);
    expect(() => acceptorOf('{"$schema":"https://example.org/draft-07/schema"}')).toThrow(/dialect/);
    expect(() =>
      acceptorOf('{"$schema":"http://json-schema.org/draft-03/schema#","type":"object","properties":{"a":{"required":true}}}'),
    ).toThrow(/draft 3/);
  });
});

describe("white space", () => {
  const value = { a: [1, [], {}, { b: ["x"] }], c: { d: null } };
  const fits = acceptorOf("{}");

  it("is what printers write, at any indentation up to four spaces, or tabs", () => {
    for (const indent of [0, 1, 2, 3, 4, "\t"]) expect(fits(JSON.stringify(value, null, indent))).toBe(true);
    expect(fits(JSON.stringify(value, null, 2).replaceAll("\n", "\r\n"))).toBe(true);
    expect(fits('{ "a": [ 1, 2 ], "b": {} }')).toBe(true);
  });

  test.each([
    '{"a" :1}',
    '{"a":1 ,"b":2}',
    '{"a":\n1}',
    '{"a":  1}',
    '{\n\n"a":1}',
    '{ \n"a":1}',
    '{\n     "a":1}',
    '{\n\t\t"a":1}',
    '{\n  \t"a":1}',
    "{ }",
    "[\n]",
    "[1\n,2]",
    '{"a":1\n    }',
    " 1",
    "1 ",
  ])("%j goes beyond it", (text) => {
    expect(fits(text)).toBe(false);
  });
});
