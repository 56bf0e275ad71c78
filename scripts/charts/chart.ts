/** The Helm chart of deploy/, rendered by helm, and the manifest that is kept of it. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { keptInstallation } from "../../test/fixtures/installations.ts";
import { packageRoot as root } from "../../src/bundling/write-bundle.ts";

/** An object of Kubernetes: what a manifest contains. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** Folder of the chart. */
export const chartFolder: string = resolve(root, "deploy/helm/inferyard");

/** The chart rendered with its own values, for clusters that are managed without helm. `npm run check:chart -- --write` writes it. */
export const plainManifest: string = resolve(root, "deploy/kubernetes/inferyard.yaml");

/** Version of helm that is compiled where none is installed. */
const helmModule = "helm.sh/helm/v3/cmd/helm@v3.19.0";

/** Values that the chart is rendered with, as arguments of helm, by what they show. */
export const renderings: Readonly<Record<string, readonly string[]>> = {
  "the values of the chart": [],
  "every object": [
    ...["serviceMonitor", "keda", "inferencePool"].flatMap((name) => ["--set", `${name}.enabled=true`]),
    "--set=data.claim=models",
    "--set=environment.INFERYARD_MODEL=builtin",
  ],
  "nothing but the server": ["--set", "podDisruptionBudget.enabled=false", "--set", "replicas=3"],
};

/**
 * Path of helm: the variable HELM, or `helm` on the PATH, or one compiled from its Go module before. `compile`: compiles it where there is none (3 to 15 minutes of
 * two cores). Undefined without one; throws what Go says where it cannot be compiled.
 */
export async function findHelm({ compile }: { readonly compile: boolean }): Promise<string | undefined> {
  for (const helm of [process.env["HELM"], "helm"]) {
    try {
      if (helm === undefined) continue;
      execFileSync(helm, ["version", "--short"], { stdio: "ignore" });
      return helm;
    } catch {
      // not installed
    }
  }
  if (!compile) return undefined;
  const folder = await keptInstallation({ tool: "go install", packages: [helmModule] }, async (inside) => {
    const env = { ...process.env, GOBIN: inside, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false" };
    await promisify(execFile)("go", ["install", "-ldflags=-s -w", helmModule], { env, timeout: 1_800_000 });
  });
  const helm = join(folder, process.platform === "win32" ? "helm.exe" : "helm");
  if (!existsSync(helm)) throw new Error(`go install left no ${helm}`);
  return helm;
}

/** What `helm lint` finds at its strictest; undefined if nothing. */
export function lintChart(helm: string, values: readonly string[]): string | undefined {
  try {
    execFileSync(helm, ["lint", "--strict", chartFolder, ...values], { encoding: "utf8", stdio: "pipe" });
    return undefined;
  } catch (error) {
    return (error as { stdout?: string }).stdout ?? (error as Error).message;
  }
}

/** The manifest that `helm template` makes with these values. The release is called inferyard. Throws what helm prints where the values are refused. */
export function renderChart(helm: string, values: readonly string[]): string {
  return execFileSync(helm, ["template", "inferyard", chartFolder, ...values], { encoding: "utf8", stdio: "pipe" });
}

/** The objects of a manifest. Throws where it is no YAML. */
export function readManifest(yaml: string): readonly KubernetesObject[] {
  return parseAllDocuments(yaml).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}
