/** Numbers and the order of keys in calls of tools, schemas and conversations, as each protocol takes and gives them; and the white space of structured output. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerHere, ServersHere } from "../fixtures/processes/server-here.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("numbers and white space of the reports");
const reports = `${sharedData}reports/`;
const models = {
  m: `${reports}big-integers/model`,
  g: `${sharedData}tiny-random-gpt2`,
  q: `${sharedData}tiny-random-qwen2`,
  tinyllm: `${sharedData}tinyllm/tinyllm.gguf`,
};

interface Report {
  readonly requests: Readonly<Record<string, { readonly path: string; readonly body?: object; readonly raw?: string }>>;
}
type Expected = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

describe.skipIf(skip)(title, () => {
  const servers = new ServersHere();
  let server: ServerHere;
  beforeAll(async () => {
    server = await servers.serve(["--target", "native:cpu"], { models });
  });
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
  });

  const ask = async (path: string, body: string): Promise<string> => {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  };

  it.each(["big-integers", "json-white-space"])("the requests of %s have the answers that are right", async (folder) => {
    const { requests } = JSON.parse(readFileSync(`${reports}${folder}/input.json`, "utf8")) as Report;
    const expected = JSON.parse(readFileSync(`${reports}${folder}/expected.json`, "utf8")) as Expected;
    for (const [name, { path, body, raw }] of Object.entries(requests)) {
      const answer = await ask(path, raw ?? JSON.stringify(body));
      const { contains = "", reference: _reference, ...values } = expected[name] ?? {};
      expect(answer).toContain(contains);
      for (const [place, value] of Object.entries(values)) {
        const found = place.split(".").reduce<unknown>((from, key) => Reflect.get(Object(from), key), JSON.parse(answer));
        expect([name, place, found]).toEqual([name, place, value]);
      }
    }
  });

  // What the model writes, whatever it is asked.
  const values = '{"user_id":1234567890123456789,"ratio":1.0,"10":"ten","9":"nine"}';
  const parameters =
    '{"type":"object","properties":{"10":{"const":1.0},"9":{"type":"string"},"user_id":{"maximum":1234567890123456789}}}';
  const question = '"messages":[{"role":"user","content":"hi"}]';
  const functionTool = `{"type":"function","function":{"name":"get_user","parameters":${parameters}}}`;
  const text = JSON.stringify(values).slice(1, -1);

  it.each([
    ["/v1/chat/completions", `{"model":"m",${question},"tools":[${functionTool}]}`, `"arguments":"${text}"`],
    [
      "/v1/responses",
      `{"model":"m","input":"hi","tools":[{"type":"function","name":"get_user","parameters":${parameters}}]}`,
      `"arguments":"${text}"`,
    ],
    [
      "/v1/messages",
      `{"model":"m","max_tokens":100,${question},"tools":[{"name":"get_user","input_schema":${parameters}}]}`,
      `"input":${values}`,
    ],
    ["/api/chat", `{"model":"m","stream":false,${question},"tools":[${functionTool}]}`, `"arguments":${values}`],
  ])("%s gives the arguments of a call as the model wrote them", async (path, body, expected) => {
    expect(await ask(path, body)).toContain(expected);
    const streamed = path === "/v1/messages" ? `"partial_json":"${text}"` : expected;
    expect(await ask(path, body.replace('"stream":false,', "").replace("{", '{"stream":true,'))).toContain(streamed);
  });

  it("gives the schema of a tool back as it was sent", async () => {
    const tools = `[{"type":"function","name":"get_user","parameters":${parameters}}]`;
    expect(await ask("/v1/responses", `{"model":"m","input":"hi","tools":${tools}}`)).toContain(`"tools":${tools}`);
  });

  it.each(["/v1/completions", "/v1/chat/completions"])(
    "%s gives several different texts without a temperature, and others each time for the seed -1",
    async (path) => {
      const input = path === "/v1/completions" ? { prompt: "id:" } : { messages: [{ role: "user", content: "id:" }] };
      const model = path === "/v1/completions" ? "g" : "q";
      const textsOf = async (fields: object): Promise<readonly string[]> => {
        const { choices } = JSON.parse(await ask(path, JSON.stringify({ model, max_tokens: 12, ...input, ...fields }))) as {
          choices: readonly { text?: string; message?: unknown }[];
        };
        return choices.map((each) => each.text ?? JSON.stringify(each.message));
      };
      const several = await textsOf({ n: 3 });
      expect(new Set(several).size).toBe(3);
      const [one, other] = [await textsOf({ seed: -1, temperature: 1 }), await textsOf({ seed: -1, temperature: 1 })];
      expect(one).not.toEqual(other);
      expect(await textsOf({ seed: 7, temperature: 1 })).toEqual(await textsOf({ seed: 7, temperature: 1 }));
      expect(new Set(await textsOf({ n: 3, temperature: 0 })).size).toBe(1);
    },
  );

  it.each([
    [
      "/v1/chat/completions",
      `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"get_user","arguments":"{\\"path\\": \\"/da"}}]},{"role":"user","content":"go on"}]}`,
    ],
    [
      "/v1/responses",
      `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"a","name":"get_user","arguments":"{\\"path\\": \\"/da"},{"role":"user","content":"go on"}]}`,
    ],
    [
      "/api/chat",
      `{"model":"m","stream":false,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_user","arguments":"{\\"path\\""}}]},{"role":"user","content":"go on"}]}`,
    ],
  ])("%s takes a call back that was cut", async (path, body) => {
    expect(await ask(path, body)).toContain("get_user");
  });
});
