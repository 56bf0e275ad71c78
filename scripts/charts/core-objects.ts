/** Validates objects of Kubernetes itself against its published schemas, with the Python package kubernetes-validate. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPython, runPython } from "../../test/fixtures/installed.ts";
import type { KubernetesObject } from "./chart.ts";

/** Releases of Kubernetes that objects are validated for: the oldest that cloud providers still run, and the newest that the package has. */
export const kubernetesVersions: readonly string[] = ["1.30", "1.37"];

const program = [
  "import json, os, kubernetes_validate",
  "problems = []",
  "for release in json.loads(os.environ['VERSIONS']):",
  "    for o in json.loads(os.environ['OBJECTS']):",
  "        try: kubernetes_validate.validate(o, release, strict=True)",
  "        except Exception as e: problems.append(f\"{o['kind']} for {release}: {getattr(e, 'message', None) or e}\")",
  "print(json.dumps(problems))",
];

/** What is wrong with the objects; fields that Kubernetes does not know count. Throws where the package cannot be installed: the reason. */
export async function validateCoreObjects(objects: readonly KubernetesObject[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-kubernetes-"));
  try {
    const problem = await installPython(folder, ["kubernetes-validate==1.37.0"]);
    if (problem !== undefined) throw new Error(problem);
    const environment = { OBJECTS: JSON.stringify(objects), VERSIONS: JSON.stringify(kubernetesVersions) };
    return runPython(folder, program, environment) as string[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
