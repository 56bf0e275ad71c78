/**
 * LangChain's Python OpenAIEmbeddings with its defaults, which sends token ids of OpenAI's cl100k_base, against `inferyard serve --token-ids cl100k`
 * in an installation that has js-tiktoken. Skipped with the reason where a registry cannot be reached.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { installNpm, installPython, installedModule, needsInstalled, pythonOf } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-langchain-python-"));
const pythonPackages = ["langchain-openai==1.7.3", "tiktoken==0.14.0"];
const tiktokenPackage = "js-tiktoken@1.0.21";
const vocabularies = join(folder, "vocabularies");
needsInstalled(async () => (await installNpm(folder, [tiktokenPackage])) ?? (await installPython(folder, pythonPackages)));

const servers = new ServerProcesses();
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** This package beside js-tiktoken, as npm lays them out. */
function installServer(): string {
  const { dependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { dependencies: object };
  const installation = join(folder, "node_modules/inferyard");
  for (const part of ["bin", "dist", "builtin", "package.json"])
    cpSync(join(repository, part), join(installation, part), { recursive: true });
  for (const dependency of Object.keys(dependencies)) {
    const link = join(installation, "node_modules", dependency);
    mkdirSync(join(link, ".."), { recursive: true });
    symlinkSync(join(repository, "node_modules", dependency), link);
  }
  return join(installation, "bin/inferyard.js");
}

/**
 * Puts the vocabulary where tiktoken looks before it downloads it; tiktoken compares its SHA-256 with that of OpenAI's file, so both packages have
 * the same vocabulary.
 */
async function writeVocabulary(): Promise<void> {
  const { default: ranks } = await installedModule<{ default: { bpe_ranks: string } }>(folder, "js-tiktoken/ranks/cl100k_base");
  const lines: string[] = [];
  for (const line of ranks.bpe_ranks.split("\n").filter(Boolean)) {
    const [, first, ...tokens] = line.split(" ");
    for (const [index, token] of tokens.entries()) lines.push(`${token} ${Number(first) + index}\n`);
  }
  const url = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken";
  mkdirSync(vocabularies, { recursive: true });
  writeFileSync(join(vocabularies, createHash("sha1").update(url).digest("hex")), lines.join(""));
}

async function python(server: ServerProcess, program: string, options = ""): Promise<string> {
  const setUp = [
    "import json",
    "from langchain_openai import OpenAIEmbeddings",
    `client = OpenAIEmbeddings(model="builtin", base_url="${server.url}/v1", api_key="none", max_retries=0${options})`,
  ];
  const { stdout } = await run(pythonOf(folder), ["-c", [...setUp, program].join("\n")], {
    env: { ...process.env, NO_PROXY: "127.0.0.1", TIKTOKEN_CACHE_DIR: vocabularies },
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

const vectorsOf = async (server: ServerProcess, input: readonly string[]): Promise<number[][]> => {
  const response = await embed(server, { input });
  return ((await response.json()) as { embeddings: number[][] }).embeddings;
};

describe(`LangChain for Python (${pythonPackages[0]}) with its defaults`, () => {
  let server: ServerProcess;
  beforeAll(async () => {
    const program = installServer();
    await writeVocabulary();
    server = await servers.serve(["--token-ids", "cl100k"], {}, { program });
    await ready(server);
  });

  const texts = [
    "cat",
    "a cat sits on the mat",
    "ein Käse für Łukasz",
    "你好，世界 🦜 𝒳",
    "<|endoftext|> as text",
    "  two  spaces\n\n",
  ];

  it("embeds documents and a question as POST /api/embed does", async () => {
    const printed = await python(
      server,
      `print(json.dumps([client.embed_documents(${JSON.stringify(texts)}), client.embed_query("cat")]))`,
    );
    const [documents, question] = JSON.parse(printed) as [number[][], number[]];
    const vectors = await vectorsOf(server, texts);
    expect(documents).toEqual(vectors);
    expect(question).toEqual(vectors[0]);
  });

  it("embeds a document that LangChain cuts into pieces: the mean of the pieces' vectors, weighted by their tokens", async () => {
    const long = "The quick brown fox jumps over the lazy dog, and Zürich is 20 km away. ".repeat(12);
    const program = [
      "import tiktoken",
      `text = ${JSON.stringify(long)}`,
      'ids = tiktoken.get_encoding("cl100k_base").encode(text)',
      "pieces = [ids[start : start + 100] for start in range(0, len(ids), 100)]",
      "texts = [tiktoken.get_encoding('cl100k_base').decode(piece) for piece in pieces]",
      "print(json.dumps([client.embed_documents([text])[0], texts, [len(piece) for piece in pieces]]))",
    ].join("\n");
    const printed = await python(server, program, ", embedding_ctx_length=100");
    const [found, pieces, weights] = JSON.parse(printed) as [number[], string[], number[]];
    expect(pieces.length).toBeGreaterThan(1);
    const vectors = await vectorsOf(server, pieces);
    const mean = vectors[0]!.map((_value, axis) =>
      vectors.reduce((sum, vector, index) => sum + vector[axis]! * weights[index]!, 0),
    );
    const length = Math.hypot(...mean);
    for (const [axis, value] of found.entries()) expect(value).toBeCloseTo(mean[axis]! / length, 6);
  });

  it("decodes a character that was cut in two as tiktoken does, and keeps nothing of it for the next request", async () => {
    const parrot = [9468, 99, 250]; // U+1F99C
    const answers = await Promise.all(
      [[64, 9468], parrot, [99, 250, 65]].map(async (input) => {
        const response = await fetch(`${server.url}/v1/embeddings`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ input }),
        });
        return ((await response.json()) as { data: { embedding: number[] }[] }).data[0]!.embedding;
      }),
    );
    expect(answers).toEqual(await vectorsOf(server, ["a\uFFFD", "🦜", "\uFFFD\uFFFDb"]));
  });

  it("refuses an id that cl100k lacks", async () => {
    const response = await fetch(`${server.url}/v1/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: [64, 100_256] }),
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { message: /cl100k lacks/, param: "input" } }]);
  });

  it("runs the guide's example", async () => {
    const environment = { TIKTOKEN_CACHE_DIR: vocabularies };
    const [printed, said] = await guideExample("LangChain, Python", {
      url: server.url,
      folder,
      python: pythonOf(folder),
      environment,
    });
    expect(printed).toEqual(said);
  });
});

describe("LangChain for Python where the setting is absent", () => {
  it("a short question is refused, and the error names both remedies", async () => {
    const server = await servers.serve([]);
    await ready(server);
    await writeVocabulary();
    const failed = await python(server, 'client.embed_query("cat")').then(String, (error: { stderr: string }) => error.stderr);
    expect(failed).toMatch(/BadRequestError: .*check_embedding_ctx_length=False; or the server's setting tokenIds/);
    const vector = JSON.parse(
      await python(server, 'print(json.dumps(client.embed_query("cat")))', ", check_embedding_ctx_length=False"),
    );
    expect([vector]).toEqual(await vectorsOf(server, ["cat"]));
  });

  it("`serve` says what to install where js-tiktoken is absent", async () => {
    const absent = new URL("fixtures/without-js-tiktoken.mjs", import.meta.url);
    const rejected = servers.serve(["--token-ids", "o200k"], {}, { environment: { NODE_OPTIONS: `--import ${absent.href}` } });
    await expect(rejected).rejects.toThrow(
      /server\.tokenIds is o200k, and the package js-tiktoken is not installed[^]*npm install js-tiktoken/,
    );
  });
});
