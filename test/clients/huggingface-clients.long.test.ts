/** Clients of Hugging Face's inference API, unchanged, against `inferyard serve`; skipped with the reason where they cannot be installed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installNpm, installPython, installedModule, needsInstalled, runPython } from "../fixtures/installed.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { clientPackage, npmClients, pythonClients } from "./fixtures/client-packages.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";

const [skip, title] = needsData("Hugging Face's clients");
const folder = mkdtempSync(join(tmpdir(), "inferyard-clients-"));
const servers = new ServerProcesses();
let server: ServerProcess;
const models = {
  nli: `${sharedData}tiny-bert-nli-untrained`,
  ner: `${sharedData}minilm-l3-ner`,
  mask: `${sharedData}tiny-random-splade`,
};
beforeAll(async () => {
  if (!skip) server = await servers.serve([], { models });
});
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

const text = "Angela Merkel visited Paris.";
const masked = "The cat sat on the [MASK].";
const floats = (rows: unknown): number[] => [rows].flat(2).map((value) => Math.fround(value as number));

/** What the library gives, in the fields of the pipelines. */
async function expected() {
  await using runtime = await createRuntime();
  const [classes, chosen, entities, fills, similar, vectors] = [
    await runtime.classify(text, { model: models.nli }),
    await runtime.classify(text, { model: models.nli, labels: ["politics", "cooking"] }),
    await runtime.recognize(text, { model: models.ner }),
    await runtime.fillMask(masked, { model: models.mask, topK: 2 }),
    await runtime.similarity(["a cat"], ["a dog", "a car"], {}),
    await runtime.embed("a cat"),
  ];
  return {
    classes: classes.results[0]!.map(({ label }) => label),
    chosen: chosen.results[0]!.map(({ label }) => label),
    entities: entities.results[0]!.map(({ entityGroup, word }) => [entityGroup, word]),
    fills: fills.results[0]![0]!.map(({ tokenText }) => tokenText),
    similar: [...similar.scores[0]!],
    vector: [...vectors.embeddings[0]!],
  };
}

interface Labelled {
  readonly label: string;
}
interface InferenceModule {
  readonly InferenceClient: new (token?: string) => {
    endpoint(url: string): {
      textClassification(request: object): Promise<Labelled[]>;
      zeroShotClassification(request: object): Promise<Labelled[]>;
      tokenClassification(request: object): Promise<{ entity_group: string; word: string }[]>;
      fillMask(request: object): Promise<{ token_str: string }[]>;
      sentenceSimilarity(request: object): Promise<number[]>;
      featureExtraction(request: object): Promise<number[][]>;
    };
  };
}

describe.skipIf(skip)(`${title}, npm: ${clientPackage(npmClients, "@huggingface/inference")}`, () => {
  needsInstalled(() => installNpm(folder, npmClients));

  it("run every task", async () => {
    const { InferenceClient } = await installedModule<InferenceModule>(folder, "@huggingface/inference");
    const at = (path: string) => new InferenceClient().endpoint(`${server.url}${path}`);
    const wanted = await expected();
    expect((await at("/models/nli").textClassification({ inputs: text })).map(({ label }) => label)).toEqual(wanted.classes);
    const parameters = { candidate_labels: ["politics", "cooking"] };
    expect((await at("/models/nli").zeroShotClassification({ inputs: text, parameters })).map(({ label }) => label)).toEqual(
      wanted.chosen,
    );
    const entities = await at("/models/ner").tokenClassification({ inputs: text });
    expect(entities.map(({ entity_group: group, word }) => [group, word])).toEqual(wanted.entities);
    const fills = await at("/models/mask/pipeline/fill-mask").fillMask({ inputs: masked, parameters: { top_k: 2 } });
    expect(fills.map(({ token_str: token }) => token)).toEqual(wanted.fills);
    const inputs = { source_sentence: "a cat", sentences: ["a dog", "a car"] };
    expect(await at("/").sentenceSimilarity({ inputs })).toEqual(wanted.similar);
    expect(floats(await at("").featureExtraction({ inputs: "a cat" }))).toEqual(wanted.vector);
  });
});

describe.skipIf(skip)(`${title}, PyPI: ${clientPackage(pythonClients, "huggingface_hub")}`, () => {
  needsInstalled(() => installPython(folder, pythonClients));

  it("run every task", async () => {
    const program = [
      "import json, os",
      "from huggingface_hub import InferenceClient",
      'url, text, masked = json.loads(os.environ["INPUT"])',
      'at = lambda name: InferenceClient(url + "/models/" + name)',
      'labels = ["politics", "cooking"]',
      "root = InferenceClient(url)",
      "print(json.dumps(dict(",
      '  classes=[one.label for one in at("nli").text_classification(text)],',
      '  chosen=[one.label for one in at("nli").zero_shot_classification(text, labels)],',
      '  entities=[[one.entity_group, one.word] for one in at("ner").token_classification(text)],',
      '  fills=[one.token_str for one in at("mask/pipeline/fill-mask").fill_mask(masked, top_k=2)],',
      '  similar=root.sentence_similarity("a cat", ["a dog", "a car"]),',
      '  vector=root.feature_extraction("a cat").flatten().tolist(),',
      ")))",
    ];
    const answer = runPython(folder, program, { INPUT: JSON.stringify([server.url, text, masked]) }) as Record<string, unknown>;
    const { vector, ...wanted } = await expected();
    expect(answer).toMatchObject(wanted);
    expect(floats(answer["vector"])).toEqual(vector);
  });
});
