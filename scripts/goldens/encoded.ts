/** The parts that all goldens are made of, as their files write them. */
import type { Tensor } from "inferyard";
import { z } from "zod";

/** base64 of little-endian 32-bit floats. */
export const base64Floats: z.ZodType<Float32Array, string> = z.string().transform((text, context) => {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % 4 === 0 && bytes.toString("base64") === text)
    return Float32Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
  context.addIssue("is not base64 of 32-bit floats");
  return z.NEVER;
});

export interface EncodedTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** {dtype, shape, data} with float32 data in base64. */
export const tensor: z.ZodType<EncodedTensor> = z
  .object({ dtype: z.literal("float32"), shape: z.array(z.int().nonnegative()), data: base64Floats })
  .refine(
    ({ shape, data }) => shape.reduce((product, size) => product * size, 1) === data.length,
    "data does not fill its shape",
  );

/** As a batch of one. */
export function batchOf({ shape, data }: EncodedTensor): Tensor {
  return { dataType: "float32", shape: [1, ...shape], data };
}

/** As one batch; all are of one shape. */
export function stacked(tensors: readonly EncodedTensor[]): Tensor {
  const [first] = tensors;
  const data = new Float32Array(tensors.reduce((sum, each) => sum + each.data.length, 0));
  for (const [index, each] of tensors.entries()) data.set(each.data, index * each.data.length);
  return { dataType: "float32", shape: [tensors.length, ...(first?.shape ?? [])], data };
}

export const ids: z.ZodArray<z.ZodNumber> = z.array(z.int());

/** For people, and short: which text it is about. */
export function shown(index: number, text: string): string {
  return `item ${index} ${JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text)}`;
}

/** Throws Error that names the first place where the goldens are of another form. */
export function parse<Goldens>(schema: z.ZodType<Goldens>, goldens: unknown): Goldens {
  const result = schema.safeParse(goldens);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  throw new Error(`${path.replace(/^\./, "") || "the whole"}: ${issue?.message ?? "of another form"}`);
}
