/**
 * What deploy/ has for Kubernetes: helm lints and renders the chart, schemas of Kubernetes and of other projects hold what comes out, and the program is started as the kubelet
 * would start it. `npm run check:chart` does the first part alone.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type KubernetesObject,
  chartFolder,
  findHelm,
  lintChart,
  plainManifest,
  readManifest,
  renderChart,
  renderings,
} from "../../scripts/charts/chart.ts";
import { validateCoreObjects } from "../../scripts/charts/core-objects.ts";
import { isCustom, validateCustomObject } from "../../scripts/charts/custom-objects.ts";
import { needsInstalled, problemOfInstallation } from "../fixtures/installed.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";
import {
  type ContainerSpec,
  type RunningContainer,
  findContainer,
  keysFile,
  mountSecret,
  startContainer,
  streamedTexts,
} from "./fixtures/container.ts";

const program = [process.execPath, fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url))];
const folder = mkdtempSync(join(tmpdir(), "inferyard-charts-"));
const running: RunningContainer[] = [];
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plain = readManifest(readFileSync(plainManifest, "utf8"));
const find = (objects: readonly KubernetesObject[], kind: string): KubernetesObject =>
  objects.find((object) => object.kind === kind)!;

describe("the chart, rendered by helm", () => {
  let helm = "";
  needsInstalled(() =>
    problemOfInstallation(async () => {
      const found = await findHelm({ compile: runsAll });
      if (found === undefined) throw new Error("helm is not installed; TEST_SLOW=1 compiles it");
      helm = found;
    }),
  );

  it.each(Object.entries(renderings))("passes helm lint with %s", (_name, values) => {
    expect(lintChart(helm, values)).toBeUndefined();
    expect(readManifest(renderChart(helm, values)).length).toBeGreaterThan(1);
  });

  it("is what deploy/kubernetes has", () => {
    expect(renderChart(helm, [])).toBe(readFileSync(plainManifest, "utf8"));
  });

  it.each([
    [["--set", "replica=3"], /replica/],
    [["--set", "replicas=many"], /replicas/],
    [["--set", "image.pullPolicy=sometimes"], /pullPolicy/],
    [["--set", "keda.enabled=maybe"], /keda/],
  ])("refuses the values %j", (values, words) => {
    expect(() => execFileSync("helm", ["template", "x", chartFolder, ...values], { stdio: "pipe" })).toThrow(words);
  });

  it.skipIf(!runsAll)(
    onRequest("has objects of other projects that fit their definitions", "it fetches their Go modules")[1],
    async () => {
      const objects = readManifest(renderChart(helm, renderings["every object"]!)).filter(isCustom);
      expect(objects.map(({ kind }) => kind).toSorted()).toEqual(["InferencePool", "ScaledObject", "ServiceMonitor"]);
      for (const object of objects) {
        expect(await validateCustomObject(object)).toEqual([]);
        const wrong = { ...object, spec: { ...(object["spec"] as object), selectors: 1 } };
        expect((await validateCustomObject(wrong)).join()).toContain("selectors");
      }
    },
  );
});

describe("deploy/kubernetes by the schemas of Kubernetes", () => {
  let problems: readonly string[] = [];
  needsInstalled(() =>
    problemOfInstallation(async () => {
      const deployment = find(plain, "Deployment");
      const wrong = { ...deployment, spec: { ...(deployment["spec"] as object), replica: 1 } };
      problems = await validateCoreObjects([...plain, wrong]);
    }),
  );

  it("finds nothing but the field that the test added", () => {
    expect(problems).toHaveLength(2); // one for each release
    expect(problems.join()).toMatch(/'replica' was unexpected.*'replica' was unexpected/s);
  });
});

const [isMissing, started] = needsData("the pod");
describe.skipIf(isMissing)(started, () => {
  const model = join(sharedData, "tinyllm/tinyllm.gguf");
  let secret = "";
  beforeAll(() => {
    secret = mountSecret(join(folder, "keys"), { keys: keysFile("key-of-the-test"), metrics: "key-of-the-test" });
  });
  /** Starts the container of a pod with folders of its own. */
  const start = async (
    container: ContainerSpec,
    folders: Readonly<Record<string, string>>,
    environment: Record<string, string> = {},
  ): Promise<RunningContainer> => {
    const data = mkdtempSync(join(folder, "data-"));
    const started = await startContainer(container, { command: program, folders: { "/data": data, ...folders }, environment });
    running.push(started);
    return started;
  };
  const complete = async ({ url }: RunningContainer, tokens: number): Promise<Response> => {
    const headers = { "content-type": "application/json", authorization: "Bearer key-of-the-test" };
    const { data } = (await (await fetch(`${url}/v1/models`, { headers })).json()) as { data: { id: string }[] };
    const request = { model: data[0]?.id, prompt: "Once upon a time", max_tokens: tokens, stream: true, ignore_eos: true };
    return await fetch(`${url}/v1/completions`, { method: "POST", headers, body: JSON.stringify(request) });
  };

  it("of the Deployment answers its probes, asks for keys, and ends a stream when it is asked to end", async () => {
    const container = findContainer(plain);
    const pod = await start(container, { "/etc/inferyard": secret }, { INFERYARD_MODEL: model });
    for (const probe of [container.startupProbe!, container.livenessProbe]) expect(await pod.passes(probe)).toBe(true);
    await expect.poll(() => pod.passes(container.readinessProbe), { timeout: 120_000 }).toBe(true);

    const metrics = (headers: Record<string, string>): Promise<Response> => fetch(`${pod.url}/metrics`, { headers });
    expect((await metrics({})).status).toBe(401);
    const read = await metrics({ authorization: `Bearer ${readFileSync(join(secret, "metrics"), "utf8")}` });
    expect(await read.text()).toContain("\ninferyard_requests_waiting 0\n");

    const texts = streamedTexts(await complete(pod, 400));
    expect((await texts.next()).done).toBe(false);
    pod.child.kill("SIGTERM");
    await expect.poll(() => pod.passes(container.readinessProbe).catch(() => false)).toBe(false);
    let last = "";
    for await (const text of texts) last = text;
    expect(last).toBe("[DONE]");
    expect(await pod.ended).toMatchObject({ code: 0, signal: null });
  });

  it.each([
    ["v2", "all-MiniLM-L6-v2", "onnx"],
    ["openai", "tinyllm", "gguf"],
  ])("of KServe's runtime %s answers its probes with the files of %s in /mnt/models", async (name, files, format) => {
    const [runtime] = readManifest(readFileSync(`deploy/kserve/${name}.yaml`, "utf8"));
    const { supportedModelFormats } = runtime!["spec"] as { supportedModelFormats: { name: string }[] };
    expect(supportedModelFormats.map((each) => each.name)).toContain(format);
    const container = findContainer([runtime!]);
    const pod = await start(container, { "/mnt/models": join(sharedData, files) });
    await expect.poll(() => pod.passes(container.readinessProbe), { timeout: 120_000 }).toBe(true);
    expect(await pod.passes(container.livenessProbe)).toBe(true);
    if (format !== "gguf") return;
    const texts: string[] = [];
    for await (const text of streamedTexts(await complete(pod, 4))) texts.push(text);
    expect(texts.at(-1)).toBe("[DONE]");
  });
});
