import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createRuntime } from "../../../../api/create-runtime.ts";
import type { Runtime } from "../../../../api/runtime.ts";
import { type Handler, type HandlerOptions, createHandler } from "../../../handler.ts";

let runtime: Runtime;
let folder = "";
let handler: Handler;
const opened: Handler[] = [];
const open = (options: HandlerOptions = {}): Handler => {
  handler = createHandler(runtime, { dataFolder: folder, ...options });
  opened.push(handler);
  return handler;
};
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline" });
});
afterAll(() => runtime.dispose());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-batches-"));
  open();
});
afterEach(async () => {
  for (const { service } of opened.splice(0)) await service.batches?.close();
  await rm(folder, { recursive: true });
});

interface Body {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly status: string;
  readonly error: { readonly message: string; readonly code: string; readonly param: string | null };
}

async function call(path: string, init: RequestInit = {}): Promise<{ readonly status: number; readonly body: Body }> {
  const response = await handler(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Body };
}
const post = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
  call(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
const upload = (content: string, fields: Record<string, string> = { purpose: "batch" }, headers: Record<string, string> = {}) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new File([content], "in.jsonl"));
  return call("/v1/files", { method: "POST", body: form, headers });
};
const content = async (id: unknown): Promise<string> =>
  (await handler(new Request(`http://localhost/v1/files/${String(id)}/content`))).text();
const request = (id: string, body: object, url = "/v1/embeddings"): string =>
  JSON.stringify({ custom_id: id, method: "POST", url, body });

/** Runs a batch of these lines to its end. */
async function run(lines: readonly string[]): Promise<Body> {
  const { body: file } = await upload(lines.join("\n"));
  const { body: batch } = await post("/v1/batches", {
    input_file_id: file.id,
    endpoint: "/v1/embeddings",
    completion_window: "24h",
  });
  return await ended(batch.id);
}
async function ended(id: string): Promise<Body> {
  return await vi.waitFor(
    async () => {
      const { body } = await call(`/v1/batches/${id}`);
      expect(["completed", "failed", "cancelled", "expired"]).toContain(body.status);
      return body;
    },
    { timeout: 10_000 },
  );
}

describe("files", () => {
  it("are uploaded, listed, read and deleted", async () => {
    const { body: file } = await upload("é\n", {
      purpose: "user_data",
      "expires_after[anchor]": "created_at",
      "expires_after[seconds]": "3600",
    });
    expect(file).toMatchObject({ object: "file", bytes: 3, filename: "in.jsonl", purpose: "user_data", status: "processed" });
    expect((file["expires_at"] as number) - (file["created_at"] as number)).toBe(3600);
    const { body: other } = await upload("{}");
    expect((await call("/v1/files")).body).toMatchObject({ object: "list", has_more: false, data: expect.any(Array) as unknown });
    expect((await call("/v1/files?purpose=batch")).body["data"]).toEqual([other]);
    const { body: page } = await call("/v1/files?order=asc&limit=1");
    expect(page["has_more"]).toBe(true);
    expect((await call(`/v1/files?order=asc&after=${String(page["last_id"])}`)).body["has_more"]).toBe(false);
    expect(await content(file.id)).toBe("é\n");
    expect((await call(`/v1/files/${file.id}`, { method: "DELETE" })).body).toEqual({
      id: file.id,
      object: "file",
      deleted: true,
    });
    expect((await call(`/v1/files/${file.id}`)).status).toBe(404);
    expect(await readdir(join(folder, "files"))).toHaveLength(2);
  });

  it("are refused where they are not files of this client, or too large", async () => {
    expect((await call("/v1/files/file-..%2f..%2fetc")).body.error).toMatchObject({ code: "not_found" });
    expect((await upload("x", { purpose: "fine-tune" })).body.error).toMatchObject({ param: "purpose" });
    expect((await upload("x", { purpose: "batch", "expires_after[seconds]": "1" })).body.error).toMatchObject({
      param: "expires_after",
    });
    expect((await post("/v1/files")).status).toBe(415);
    expect((await call("/v1/files?after=file-x")).status).toBe(404);
    open({ maxFilesBytes: 3 });
    expect((await upload("four")).body.error).toMatchObject({
      code: "limit_exceeded",
      message: expect.stringContaining("maxFilesBytes") as string,
    });
    open({ maxBodyBytes: 10 });
    expect((await upload("more than ten")).status).toBe(413);
    handler = createHandler(runtime);
    expect((await call("/v1/files")).status).toBe(501);
  });

  it("are seen by the key that made them alone", async () => {
    const keyOf = (name: string) => ({ name, role: "reader" as const, sha256: createHash("sha256").update(name).digest("hex") });
    open({ keys: [keyOf("one"), keyOf("two")] });
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    const [one, two] = [bearer("one"), bearer("two")];
    const { body: file } = await upload(request("a", { input: "x" }), { purpose: "batch" }, one);
    expect((await call(`/v1/files/${file.id}`, { headers: two })).status).toBe(404);
    const made = { input_file_id: file.id, endpoint: "/v1/embeddings", completion_window: "24h" };
    expect((await post("/v1/batches", made, two)).status).toBe(404);
    const { body: batch } = await post("/v1/batches", made, one);
    await vi.waitFor(
      async () => expect((await call(`/v1/batches/${batch.id}`, { headers: one })).body.status).toBe("completed"),
      {
        timeout: 10_000,
      },
    );
    expect((await call(`/v1/batches/${batch.id}`, { headers: two })).status).toBe(404);
    expect((await call("/v1/batches", { headers: two })).body["data"]).toEqual([]);
  });
});

describe("a batch", () => {
  it("answers each request as its route does, in a file of results and one of errors", async () => {
    const lines = [
      request("one", { input: "a text", dimensions: 4 }),
      request("two", { input: "a text", model: "none" }),
      request("three", { input: ["b", "c"], encoding_format: "base64" }),
    ];
    const batch = await run(lines);
    expect(batch).toMatchObject({
      object: "batch",
      status: "completed",
      errors: null,
      request_counts: { total: 3, completed: 2, failed: 1 },
      completion_window: "24h",
    });
    const parse = (text: string) =>
      text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const results = parse(await content(batch["output_file_id"]));
    expect(results.map(({ custom_id }) => custom_id)).toEqual(["one", "three"]);
    const { body: direct } = await post("/v1/embeddings", { input: "a text", dimensions: 4 });
    expect(results[0]).toMatchObject({ error: null, response: { status_code: 200, body: direct } });
    expect(parse(await content(batch["error_file_id"]))).toMatchObject([
      { custom_id: "two", error: null, response: { status_code: 404, body: { error: { code: "model_not_found" } } } },
    ]);
    expect(await readdir(join(folder, "batch-jobs"))).toEqual([]);
    expect((await call("/v1/batches?limit=1")).body).toMatchObject({ has_more: false, first_id: batch.id });
  });

  it("fails if its input is not what it must be, with the lines", async () => {
    const line = request("a", { input: "x" });
    const batch = await run([line, line, "{", request("b", {}, "/v1/completions"), request("c", { stream: true }), "{}"]);
    expect(batch).toMatchObject({ status: "failed", output_file_id: null });
    const { data } = batch["errors"] as { data: { line: number; code: string; message: string }[] };
    expect(data.map(({ line: number, code }) => [number, code])).toEqual([
      [2, "duplicate_custom_id"],
      [3, "invalid_request"],
      [4, "invalid_request"],
      [5, "invalid_request"],
      [6, "invalid_request"],
    ]);
    expect((await post(`/v1/batches/${batch.id}/cancel`)).status).toBe(400);
    expect((await run([""])).status).toBe("failed");
  });

  it("is cancelled, and is resumed by the next server", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => request(`r${index}`, { input: `text ${index} `.repeat(50) }));
    const { body: file } = await upload(lines.join("\n"));
    const made = { input_file_id: file.id, endpoint: "/v1/embeddings", completion_window: "24h", metadata: { who: "me" } };
    const { body: left } = await post("/v1/batches", made);
    await handler.service.batches?.close(); // the server ends
    open();
    expect((await call(`/v1/batches/${left.id}`)).body).toMatchObject({ metadata: { who: "me" } });
    const { body: second } = await post("/v1/batches", made);
    expect((await post(`/v1/batches/${second.id}/cancel`)).body.status).toBe("cancelling");
    await handler.service.batches?.resume();
    const [done, cancelled] = [await ended(left.id), await ended(second.id)];
    expect(cancelled).toMatchObject({ status: "cancelled" });
    expect(done).toMatchObject({ status: "completed", request_counts: { total: 200, completed: 200, failed: 0 } });
    const ids = (await content(done["output_file_id"]))
      .split("\n")
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(ids).toEqual(lines.map((_line, index) => `r${index}`));
  });

  it("runs beside one other of its client at most; a client has 64 that have not ended", async () => {
    const { body: file } = await upload(
      Array.from({ length: 50 }, (_, index) => request(`r${index}`, { input: `${index}` })).join("\n"),
    );
    const made = { input_file_id: file.id, endpoint: "/v1/embeddings", completion_window: "24h" };
    const answers = await Promise.all(Array.from({ length: 80 }, () => post("/v1/batches", made)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.length).toBeLessThanOrEqual(66); // some may have ended meanwhile
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({ status: 429, body: { error: { code: "queue_full" } } });
    const { body: listed } = await call("/v1/batches?limit=100");
    const running = (listed["data"] as readonly Body[]).filter(
      ({ status }) => status === "in_progress" || status === "finalizing",
    );
    expect(running.length).toBeLessThanOrEqual(2);
    const last = taken.at(-1)!.body;
    await post(`/v1/batches/${last.id}/cancel`);
    expect((await ended(last.id)).status).toBe("cancelled"); // it waits for no other
  });

  it("refuses requests that it does not serve", async () => {
    const { body: file } = await upload("{}");
    const made = { input_file_id: file.id, endpoint: "/v1/embeddings", completion_window: "24h" };
    for (const change of [{ endpoint: "/v1/images" }, { completion_window: "1h" }, { input_file_id: "file-none" }])
      expect((await post("/v1/batches", { ...made, ...change })).status).toBeGreaterThanOrEqual(400);
    expect((await call("/v1/batches/batch_x")).status).toBe(404);
  });
});
