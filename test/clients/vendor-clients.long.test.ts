/** The clients of Voyage, Mixedbread and NVIDIA, unchanged, against `inferyard serve`; skipped with the reason where they cannot be installed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPython, needsInstalled, runPython } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-clients-"));
const servers = new ServerProcesses();
let server: ServerProcess;
beforeAll(async () => (server = await servers.serve([], {})));
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

const texts = ["a cat sits on the mat", "ein Satz"];
const query = "a pet that purrs";
const documents = ["a car on the road", "a cat purrs", "a dog"];

function run(...lines: string[]): Record<string, unknown> {
  const head = ["import json, os", 'url = os.environ["URL"]', 'texts, query, documents = json.loads(os.environ["INPUT"])'];
  const env = { URL: server.url, INPUT: JSON.stringify([texts, query, documents]) };
  return runPython(folder, [...head, ...lines], env) as Record<string, unknown>;
}

const packages = ["voyageai==0.4.0", "mixedbread==0.54.0", "langchain-nvidia-ai-endpoints==1.5.0"];
describe(`PyPI: ${packages.join(", ")}`, () => {
  needsInstalled(() => installPython(folder, packages));

  it("embed and rank as the library does", async () => {
    const runtime = await createRuntime();
    const [{ embeddings }, { results }] = [await runtime.embed(texts), await runtime.rerank(query, documents)];
    await runtime.dispose();
    const vectors = embeddings.map((vector) => [...vector]);
    const order = results.map(({ index }) => index);
    const codes = vectors.map((vector) => vector.map((value) => Math.round(value * 127) + 0));
    const floats = (rows: unknown): number[][] => (rows as number[][]).map((row) => row.map(Math.fround));

    const voyage = run(
      "import voyageai",
      'client = voyageai.Client(api_key="none", base_url=url + "/v1")',
      'rows = client.embed(texts, model="builtin", input_type="document").embeddings',
      'codes = client.embed(texts, model="builtin", output_dtype="int8").embeddings',
      'ranks = client.rerank(query, documents, model="builtin", top_k=2)',
      "print(json.dumps(dict(rows=[list(map(float, r)) for r in rows], codes=[list(map(int, r)) for r in codes], order=[r.index for r in ranks.results], tokens=ranks.total_tokens)))",
    );
    expect(floats(voyage["rows"])).toEqual(vectors);
    expect(voyage).toMatchObject({ codes, order: order.slice(0, 2), tokens: expect.any(Number) });

    const mixedbread = run(
      "from mixedbread import Mixedbread",
      'client = Mixedbread(api_key="none", base_url=url)',
      'rows = [d.embedding for d in client.embed(model="builtin", input=texts, normalized=True).data]',
      'both = client.embed(model="builtin", input=texts, encoding_format=["float", "int8"]).data',
      'ranks = client.rerank(model="builtin", query=query, input=documents, top_k=2, return_input=True)',
      "print(json.dumps(dict(rows=rows, codes=[d.embedding.int8 for d in both], order=[d.index for d in ranks.data], input=ranks.data[0].input)))",
    );
    expect(floats(mixedbread["rows"])).toEqual(vectors);
    expect(mixedbread).toMatchObject({ codes, order: order.slice(0, 2), input: documents[order[0]!] });

    const nvidia = run(
      "from langchain_nvidia_ai_endpoints import NVIDIAEmbeddings, NVIDIARerank",
      "from langchain_core.documents import Document",
      'embedder = NVIDIAEmbeddings(base_url=url + "/v1", model="builtin", truncate="END")',
      'ranker = NVIDIARerank(base_url=url + "/v1", model="builtin", top_n=2)',
      "ranks = ranker.compress_documents([Document(page_content=d) for d in documents], query)",
      "print(json.dumps(dict(rows=embedder.embed_documents(texts), one=embedder.embed_query(texts[0]), ranks=[d.page_content for d in ranks])))",
    );
    expect(floats(nvidia["rows"])).toEqual(vectors);
    expect(nvidia["ranks"]).toEqual(order.slice(0, 2).map((index) => documents[index]));
  });
});
