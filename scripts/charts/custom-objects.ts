/** Validates objects of kinds that other projects add to Kubernetes, against the definitions (CRDs) in their Go modules. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import type { KubernetesObject } from "./chart.ts";

/** Where a kind is defined. */
interface Definition {
  /** Go module with its version. */
  readonly module: string;
  /** Path of the CRD in the module. */
  readonly path: string;
}

/** Definitions by the group and kind of an object. */
const definitions: Readonly<Record<string, Definition>> = {
  "serving.kserve.io/ClusterServingRuntime": {
    module: "github.com/kserve/kserve@v0.16.0",
    path: "config/crd/full/serving.kserve.io_clusterservingruntimes.yaml",
  },
  "keda.sh/ScaledObject": {
    module: "github.com/kedacore/keda/v2@v2.21.0",
    path: "config/crd/bases/keda.sh_scaledobjects.yaml",
  },
  "inference.networking.k8s.io/InferencePool": {
    module: "sigs.k8s.io/gateway-api-inference-extension@v1.1.0",
    path: "config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",
  },
  "monitoring.coreos.com/ServiceMonitor": {
    module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    path: "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
  },
};

/** A schema of OpenAPI 3.0, as CRDs have them. */
interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Whether an object is of a kind that another project defines: its group is no group of Kubernetes itself. */
export function isCustom(object: KubernetesObject): boolean {
  return kindOf(object) in definitions;
}

/**
 * What is wrong with an object: its fields' names, types, formats and required fields. Rules of CRDs in CEL are not evaluated. Throws where the definition cannot be
 * fetched: what Go says.
 */
export async function validateCustomObject(object: KubernetesObject): Promise<readonly string[]> {
  const kind = kindOf(object);
  const definition = definitions[kind];
  if (definition === undefined) throw new Error(`no definition of ${kind} is known`);
  const { spec } = parse(
    readFileSync(join(await fetchModule(definition.module), definition.path), "utf8"),
  ) as CustomResourceDefinition;
  const version = object.apiVersion.split("/")[1];
  const schema = spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
  if (schema === undefined) return [`${kind}: ${definition.module} has no version ${version}`];
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(refuseUnknownFields(schema));
  if (validate(object)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${kind}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

function kindOf({ apiVersion, kind }: KubernetesObject): string {
  return `${apiVersion.split("/")[0]}/${kind}`;
}

/** Folder of a Go module, which Go fetches and checks by its digest. */
async function fetchModule(module: string): Promise<string> {
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], { timeout: 300_000 });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** The schema with `additionalProperties: false` where an object lists its properties: Kubernetes drops other fields, or refuses them if asked to. */
function refuseUnknownFields(schema: Schema, isRoot = true): Schema {
  const { properties, items, additionalProperties } = schema;
  const isClosed =
    properties !== undefined && additionalProperties === undefined && schema["x-kubernetes-preserve-unknown-fields"] !== true;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [
          name,
          isRoot && name === "metadata" ? value : refuseUnknownFields(value, false),
        ]),
      ),
    }),
    ...(items && { items: refuseUnknownFields(items, false) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: refuseUnknownFields(additionalProperties, false) }),
    ...(isClosed && { additionalProperties: false }),
  };
}
