/** Fields of requests that cannot change the answer stop no client: reports of others, and the requests of agents as they send them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentRequests } from "./fixtures/agent-requests.ts";
import { type ServerHere, ServersHere } from "../fixtures/processes/server-here.ts";
import { readReport } from "../fixtures/reports.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("fields of requests");
const model = `${readReport("strict-fields")?.folder}/model`;

describe.skipIf(skip)(title, () => {
  const servers = new ServersHere();
  let server: ServerHere;
  let strict: ServerHere;
  beforeAll(async () => {
    server = await servers.serve([], { models: { m: model } });
    strict = await servers.serve(["--strict-fields"], { models: { m: model } });
  });
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
  });

  const post = async (to: ServerHere, path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
    const response = await fetch(to.url + path, init);
    return { status: response.status, text: await response.text(), ignored: response.headers.get("x-inferyard-ignored") };
  };
  const json = async (path: string, body: object) => {
    const { text, ...rest } = await post(server, path, { model: "m", ...body });
    return { ...rest, body: JSON.parse(text) as Record<string, any> }; // oxlint-disable-line typescript/no-explicit-any -- bodies of several protocols
  };

  for (const folder of ["strict-fields", "nested-nulls"]) {
    const report = readReport(folder);
    it.each(Object.entries(report?.input.requests ?? {}))(`${folder}: %s`, async (name, { path, body }) => {
      expect((await post(server, path, body)).status).toBe(report?.expected[name]?.["status"]);
    });
  }

  it.each(agentRequests.map((each) => [`${each.client} ${each.version} ${each.path}`, each] as const))(
    "%s",
    async (_name, { path, headers = {}, body, ignored }) => {
      const given = JSON.parse(JSON.stringify(body).replaceAll('"MODEL"', '"m"')) as object;
      const answer = await post(server, path, given, { ...headers, authorization: "Bearer none" });
      expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
      expect(answer.text).not.toMatch(/event: error|"error":\{/);
      const named = (answer.ignored ?? "").split(",").filter(Boolean).toSorted();
      expect(named).toEqual(ignored?.toSorted() ?? named);
    },
  );

  it("strictFields refuses them by name", async () => {
    const body = { model: "m", max_tokens: 4, messages: [{ role: "user", content: "hi" }], context_management: {} };
    const refused = await post(strict, "/v1/messages", body);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("context_management")]);
    const tools = [{ type: "web_search" }, { type: "function", name: "f" }];
    const search = await post(strict, "/v1/responses", { model: "m", input: "hi", tools });
    expect([search.status, search.text]).toEqual([400, expect.stringContaining("web_search")]);
  });

  const messages = [{ role: "user", content: "hi" }];
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  it.each<[string, object, string]>([
    ["/v1/chat/completions", { messages: [{ role: "user", content: [image] }] }, "image_url"],
    ["/v1/chat/completions", { messages, modalities: ["text", "audio"], audio: { voice: "a" } }, "modalities"],
    ["/v1/chat/completions", { messages, n: 1_000_000 }, "1000000"],
    ["/v1/chat/completions", { messages, tools: [{ type: "web_search_preview" }] }, "web_search_preview"],
    ["/v1/responses", { input: "hi", tools: [{ type: "web_search" }] }, "web_search"],
    ["/v1/responses", { input: "hi", tools: [{ type: "file_search" }, { type: "code_interpreter" }] }, "file_search"],
    ["/v1/responses", { input: "hi", previous_response_id: "resp_1" }, "previous_response_not_found"],
    ["/v1/responses", { input: [{ type: "item_reference", id: "x" }] }, "input.0"],
    [
      "/v1/messages",
      { messages, max_tokens: 4, tools: [{ type: "web_search_20250305", name: "web_search" }] },
      "web_search_20250305",
    ],
    ["/v1/messages", { messages, max_tokens: 4, mcp_servers: [{ type: "url", url: "https://a.example" }] }, "mcp_servers"],
    ["/v1/messages", { messages: [{ role: "user", content: [{ type: "image", source: {} }] }], max_tokens: 4 }, "image"],
  ])("what a user would miss is refused: %s %j", async (path, body, name) => {
    const { status, body: answer } = await json(path, body);
    expect([status, JSON.stringify(answer)]).toEqual([expect.toBeOneOf([400, 413]), expect.stringContaining(name)]);
  });

  it("a limit of -1 is none, and of 0 generates nothing", async () => {
    const [none, zero] = await Promise.all([-1, 0].map((max_tokens) => json("/v1/chat/completions", { messages, max_tokens })));
    expect(none).toMatchObject({ status: 200, body: { choices: [{ finish_reason: "stop" }] } });
    expect(zero).toMatchObject({ status: 200, body: { usage: { completion_tokens: 0 } } });
  });

  it("a thread that is to be continued is not found, so that Anthropic's tool runner sends the whole conversation", async () => {
    const request = { messages, max_tokens: 4 };
    const created = await json("/v1/messages", { ...request, thread: { type: "create" } });
    expect([created.status, created.ignored]).toEqual([200, "/thread"]);
    expect(await json("/v1/messages", { ...request, thread: { type: "continue", previous_message_id: "msg_1" } })).toMatchObject({
      status: 400,
      body: { error: { details: { error_code: "thread_not_found" } } },
    });
  });

  it("counts the tokens of a response's input, as it does those of a message", async () => {
    const { body } = await json("/v1/responses", { input: "hi", instructions: "a" });
    expect((await json("/v1/responses/input_tokens", { input: "hi", instructions: "a" })).body).toEqual({
      object: "response.input_tokens",
      input_tokens: body["usage"].input_tokens,
    });
    const counted = await json("/v1/messages/count_tokens", { messages, max_tokens: 9, context_management: {} });
    expect(counted).toMatchObject({
      status: 200,
      body: { input_tokens: expect.any(Number) },
      ignored: "/max_tokens,/context_management",
    });
  });
});
