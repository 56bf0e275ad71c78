/** Chat templates of strangers on a server: what one does, the server and other models do not feel. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { type ServerHere, ServersHere } from "../fixtures/processes/server-here.ts";
import { needsData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("hostile chat templates on a server");
const templates = {
  loops: "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
  refusing: "{{ raise_exception('roles must alternate') }}",
};

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "hostile-templates-"));
  const servers = new ServersHere();
  let server: ServerHere;
  const models = Object.fromEntries([...Object.keys(templates), "honest"].map((name) => [name, join(folder, name)]));

  beforeAll(async () => {
    for (const [name, template] of Object.entries({ ...templates, honest: chatTemplates.tagged }))
      writeChatModel(join(folder, name), template);
    server = await servers.serve(["--target", "native"], { models, keys: [] });
  });
  afterAll(async () => {
    await servers.endAll();
    servers.remove();
    rmSync(folder, { recursive: true });
  });

  async function chat(model: string, messages: readonly object[] = [{ role: "user", content: "Hi" }]): Promise<Response> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ model, messages, max_tokens: 2 });
    return fetch(`${server.url}/v1/chat/completions`, { method: "POST", headers, body });
  }
  const errorOf = async (response: Response): Promise<unknown> => {
    const { error } = (await response.json()) as { readonly error: object };
    return { status: response.status, ...error };
  };

  it.each([
    ["loops", 422, /takes more than \d+ steps/],
    ["refusing", 400, /refuses the conversation: roles must alternate/],
  ])("%s: a typed error says what", async (model, status, message) => {
    expect(await errorOf(await chat(model))).toMatchObject({ status, message: expect.stringMatching(message) });
  });

  it("health and another model are answered while hostile ones run", async () => {
    expect((await chat("honest")).status).toBe(200); // loaded
    const done: number[] = [];
    const hostile = ["loops", "loops", "loops", "loops"].map(async (model) => done.push((await chat(model)).status));
    let answers = 0;
    const honest = async (): Promise<void> => {
      while (done.length < hostile.length) {
        const [health, answer] = await Promise.all([fetch(`${server.url}/health/live`), chat("honest")]);
        await Promise.all([health.arrayBuffer(), answer.arrayBuffer()]);
        expect([health.status, answer.status]).toEqual([200, 200]);
        answers += 1;
      }
    };
    await Promise.all([...hostile, honest()]);
    expect(new Set(done)).toEqual(new Set([422]));
    expect(answers).toBeGreaterThan(1);
  });

  it("a long conversation is refused for its length, by its tokens", async () => {
    const messages = Array.from({ length: 2000 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: "Hi",
    }));
    expect(await errorOf(await chat("honest", messages))).toMatchObject({ status: 400, code: "context_length_exceeded" });
  });
});
