/** `inspect --graph` and `inspect --stablehlo`: the graph of an .onnx file as text. Nothing is loaded or run. */
import { readFile } from "node:fs/promises";
import { invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { ModelInspection } from "../../inspection/index.ts";

/** Text forms of a graph: "graph", the native engine's intermediate representation after all passes, and "stablehlo", a StableHLO program. */
export type GraphForm = "graph" | "stablehlo";

/** Text of the graph in one of the forms. `shapes`: input shapes as the user wrote them, "name=1,16". Throws MODEL_UNSUPPORTED or INPUT_INVALID. */
export async function graphText(
  { reference, files }: ModelInspection,
  path: string,
  form: GraphForm,
  shapes: readonly string[],
): Promise<string> {
  const [file] = files;
  if (file?.format !== "onnx" || files.length !== 1) {
    throw unsupportedModel(
      `${reference} is no single .onnx file, and --${form} prints the graph of one`,
      "give the path of an .onnx file",
    );
  }
  const wanted = new Map(shapes.map(getShape));
  const { optimizedGraphText, readOnnxModel, stableHloText } = await import("../../engine/index.ts"); // large, and seldom asked for
  const { model, external } = readOnnxModel(await readFile(path), reference);
  if (external.length > 0) {
    throw unsupportedModel(
      `${reference} keeps weights in other files, which --${form} does not read`,
      `leave --${form} out; "inferyard run" loads such models`,
    );
  }
  return form === "graph" ? optimizedGraphText(model, wanted) : stableHloText(model, wanted);
}

function getShape(flag: string): readonly [string, readonly number[]] {
  const end = flag.lastIndexOf("=");
  const sizes = flag.slice(end + 1);
  if (end > 0 && /^(\d{1,9}(,\d{1,9})*)?$/.test(sizes))
    return [flag.slice(0, end), sizes === "" ? [] : sizes.split(",").map(Number)];
  throw invalidInput(`--shape ${flag} is no input with its dimensions`, "write --shape name=1,16");
}
