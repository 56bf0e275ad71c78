/**
 * Checks what deploy/ has for Kubernetes: helm lints and renders the chart, and every object is validated: those of Kubernetes by its schemas, those of other projects by
 * their definitions.
 *
 *     npm run check:chart -- [--write] [--no-compile]
 *
 * `--write` writes deploy/kubernetes/inferyard.yaml, the chart rendered with its own values. helm, Python and Go are needed: what is missing is said, and what it would
 * have checked is left out. helm is compiled from its Go module where it is not installed, unless `--no-compile` is given. The exit code is 1 where something is wrong.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot as root } from "../../src/bundling/write-bundle.ts";
import { type KubernetesObject, findHelm, lintChart, plainManifest, readManifest, renderChart, renderings } from "./chart.ts";
import { kubernetesVersions, validateCoreObjects } from "./core-objects.ts";
import { isCustom, validateCustomObject } from "./custom-objects.ts";

const { values } = parseArgs({ options: { write: { type: "boolean" }, "no-compile": { type: "boolean" } } });

/** Manifests by where they are from. */
const manifests: Record<string, string> = {};
for (const path of ["deploy/kserve/v2.yaml", "deploy/kserve/openai.yaml"])
  manifests[path] = readFileSync(resolve(root, path), "utf8");

const helm = await reasoned("helm", async () => await findHelm({ compile: values["no-compile"] !== true }));
if (helm === undefined) {
  console.log("SKIPPED  lint and rendering of the chart: helm is not installed; its rendering that is kept is validated");
  manifests[plainManifest] = readFileSync(plainManifest, "utf8");
} else {
  for (const [name, flags] of Object.entries(renderings)) {
    report(`helm lint --strict with ${name}`, [lintChart(helm, flags) ?? []].flat());
    manifests[`the chart with ${name}`] = renderChart(helm, flags);
  }
  const rendered = renderChart(helm, []);
  if (values.write === true) writeFileSync(plainManifest, rendered);
  const isSame = rendered === readFileSync(plainManifest, "utf8");
  report("deploy/kubernetes/inferyard.yaml", isSame ? [] : ["it is not what helm renders: npm run check:chart -- --write"]);
}

for (const [name, manifest] of Object.entries(manifests)) {
  const objects = readManifest(manifest);
  const core = objects.filter((object) => !isCustom(object));
  await check(
    `${name}: ${kinds(core)} by the schemas of Kubernetes ${kubernetesVersions.join(" and ")}`,
    core,
    validateCoreObjects,
  );
  for (const object of objects.filter(isCustom))
    await check(`${name}: ${object.kind} by its definition`, [object], async () => await validateCustomObject(object));
}

/** Reports what a validation of objects finds, or that it could not be done. */
async function check(
  name: string,
  objects: readonly KubernetesObject[],
  validate: (objects: readonly KubernetesObject[]) => Promise<readonly string[]>,
): Promise<void> {
  const problems = objects.length === 0 ? undefined : await reasoned(name, async () => await validate(objects));
  if (problems !== undefined) report(name, problems);
}

function report(name: string, problems: readonly string[]): void {
  console.log(
    `${problems.length === 0 ? "ok      " : "WRONG   "} ${name}${problems.map((problem) => `\n         ${problem}`).join("")}`,
  );
  if (problems.length > 0) process.exitCode = 1;
}

/** The result of something that needs a program or a network; undefined where that is missing, which is printed with the reason. */
async function reasoned<Result>(name: string, run: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    console.log(`SKIPPED  ${name}: ${(stderr || message).trim().split("\n").at(-1)}`);
    return undefined;
  }
}

/** The kinds of objects, each once. */
function kinds(objects: readonly KubernetesObject[]): string {
  return [...new Set(objects.map(({ kind }) => kind))].join(", ");
}
