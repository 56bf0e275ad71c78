/**
 * The modules that sentence-transformers runs after `Pooling` (modules.json): `Dense`, `LayerNorm`, and `Normalize` between them. Sums are
 * accumulated in double precision.
 */
import { InferyardError } from "../../errors.ts";
import type { DenseActivation, VectorModule } from "../../models/manifest.ts";
import { readSafetensorsHeader, readTensor } from "../../formats/safetensors/read-safetensors.ts";
import { toFloat32 } from "../../formats/floats/to-float32.ts";
import { normalize } from "./pooling.ts";

/** The post-pooling modules of a model, composed. A final `Normalize` is not among them: it depends on the option `normalize`. */
export interface PostPooling {
  /** Length of the output vector; undefined if it equals that of the input. */
  readonly dimensions: number | undefined;
  /** Returns a new vector. Throws MODEL_INVALID if the input has another length than the first module takes. */
  apply(vector: Float32Array): Float32Array;
}

type Step = (vector: Float32Array) => Float32Array;

/** Reads the weights of post-pooling modules from their safetensors files and composes them in order. */
export async function loadPostPooling(modules: readonly VectorModule[]): Promise<PostPooling> {
  const steps: Step[] = [];
  for (const module of modules) steps.push(await loadStep(module));
  const sizes = modules.map((module) => sizesOf(module)).filter((size) => size !== undefined);
  const [takes, gives] = [sizes[0]?.[0], sizes.at(-1)?.[1]];
  return {
    dimensions: gives,
    apply(vector) {
      if (takes !== undefined && vector.length !== takes) {
        throw new InferyardError(
          "MODEL_INVALID",
          `the model gives vectors of ${vector.length} numbers, and its modules.json goes on with a module for ${takes}`,
          { remedy: "download the whole folder of the model again" },
        );
      }
      return steps.reduce<Float32Array>((current, step) => step(current), vector.slice());
    },
  };
}

/** Input and output length of a module; undefined if it takes any. */
function sizesOf(module: VectorModule): readonly [number, number] | undefined {
  if (module.kind === "dense") return [module.inFeatures, module.outFeatures];
  return module.kind === "layer-norm" ? [module.features, module.features] : undefined;
}

async function loadStep(module: VectorModule): Promise<Step> {
  if (module.kind === "normalize") return normalize;
  const header = await readSafetensorsHeader(module.weights.path);
  const values = async (name: string): Promise<Float32Array> => toFloat32(await readTensor(header, name));
  if (module.kind === "layer-norm") return layerNorm(await values("norm.weight"), await values("norm.bias"));
  const weight = await values("linear.weight");
  const bias = module.bias ? await values("linear.bias") : new Float32Array(module.outFeatures);
  return dense(weight, bias, activations[module.activation]);
}

/** torch.nn.Linear with an activation. `weight`: `[out, in]`, row-major. */
function dense(weight: Float32Array, bias: Float32Array, activation: (value: number) => number): Step {
  return (vector) =>
    bias.map((offset, row) => {
      const start = row * vector.length;
      let sum = offset;
      for (const [column, value] of vector.entries()) sum += (weight[start + column] ?? 0) * value;
      return activation(sum);
    });
}

/** Default of torch.nn.LayerNorm. */
const epsilon = 1e-5;

function layerNorm(weight: Float32Array, bias: Float32Array): Step {
  return (vector) => {
    let sum = 0;
    for (const value of vector) sum += value;
    const mean = sum / vector.length;
    let squares = 0;
    for (const value of vector) squares += (value - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / vector.length + epsilon);
    return vector.map((value, index) => (value - mean) * scale * (weight[index] ?? 0) + (bias[index] ?? 0));
  };
}

const activations: Readonly<Record<DenseActivation, (value: number) => number>> = {
  Identity: (value) => value,
  Tanh: Math.tanh,
  ReLU: (value) => Math.max(0, value),
  GELU: (value) => 0.5 * value * (1 + errorFunction(value * Math.SQRT1_2)),
  Sigmoid: (value) => 1 / (1 + Math.exp(-value)),
  SiLU: (value) => value / (1 + Math.exp(-value)),
};

/** erf by the series of positive terms DLMF 7.6.2, which has no cancellation. Beyond |6| it is ±1 in double precision. */
function errorFunction(value: number): number {
  if (Number.isNaN(value)) return value;
  if (Math.abs(value) > 6) return Math.sign(value);
  let term = value;
  let sum = value;
  for (let index = 1; Math.abs(term) > Math.abs(sum) * Number.EPSILON; index += 1) {
    term *= (2 * value * value) / (2 * index + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-value * value) * sum;
}
