/** ONNX files: read, traced with inputs of zeros, and computed by the interpreter, within small limits. */
import {
  Builder,
  type OnnxModel,
  readOnnxModel,
  type TracedValue,
  type TraceLimits,
  traceModel,
} from "../../../src/engine/index.ts";
import { operatorFamilies } from "../../../src/engine/onnx/operators/table.ts";
import { mutateOnnx } from "../mutations/mutate-protobuf.ts";
import { sharedInputs } from "../shared-seeds.ts";
import type { FuzzTarget } from "../target.ts";

const limits: Partial<TraceLimits> = {
  tensorBytes: 2 ** 22,
  operations: 20_000,
  foldedElements: 2 ** 16,
  bytes: 2 ** 24,
  work: 2 ** 22,
};

const operators = Object.values(operatorFamilies).flatMap((family) => Object.keys(family));

export const onnx: FuzzTarget = {
  codes: ["MODEL_INVALID", "MODEL_UNSUPPORTED", "OUT_OF_MEMORY", "LIMIT_EXCEEDED"],
  seeds: () => sharedInputs("model.onnx", 4096),
  mutate: mutateOnnx,
  maxBytes: 16_384,
  dictionary: [
    ...operators.map((key) => key.slice(key.lastIndexOf(":") + 1)),
    "",
    "x",
    "y",
    "ai.onnx.ml",
    "com.microsoft",
    "axis",
    "axes",
    "body",
    "then_branch",
    "else_branch",
    "mode",
    "to",
    "pads",
  ],
  open: async () => ({
    run(input) {
      const { model, external } = readOnnxModel(input, "model.onnx");
      if (external.length === 0) compute(model);
    },
  }),
};

type OnnxType = OnnxModel["graph"]["inputs"][number]["type"];

function compute(model: OnnxModel): void {
  const build = new Builder(limits, "eager");
  const { initializers, inputs } = model.graph;
  const named = inputs
    .filter(({ name }) => !initializers.has(name))
    .map(({ name, type }): [string, TracedValue] => [name, zeros(build, type)]);
  traceModel(model, new Map(named), build);
}

/** Free and large dimensions become 2. */
function zeros(build: Builder, type: OnnxType): TracedValue {
  if (type.kind === "sequence") return { items: [] };
  if (type.kind === "optional") return { optional: true };
  const { dataType, shape = [] } = type.kind === "tensor" ? type : { dataType: "float32" as const };
  const sizes = shape.slice(0, 8).map((size) => (typeof size === "number" && size <= 64 ? size : 2));
  const one = build.constant(
    dataType === "string" ? { dataType, shape: [], data: [""] } : { dataType: "float32", shape: [], data: new Float32Array(1) },
  );
  const cast = dataType === "string" ? one : build.add({ kind: "cast", to: dataType, saturate: false }, one);
  return build.add({ kind: "expand", shape: sizes }, cast);
}
