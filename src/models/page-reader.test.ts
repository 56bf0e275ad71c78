import { expect, test } from "vitest";
import { findPageReader, pageReaderTasks } from "./page-reader.ts";

const files = (...names: readonly string[]) =>
  names.map((name) => ({ name, path: `/models/${name}.onnx`, format: "onnx" }) as const);

test("the networks of a page reader are found by the words in the names of their files", () => {
  const names = ["PP-OCRv6_det_small", "PP-OCRv6_rec_small", "ch_ppocr_mobile_v2.0_cls_mobile"] as const;
  expect(findPageReader(files(...names))).toEqual({ detector: names[0], recognizer: names[1], classifier: names[2] });
  expect(findPageReader(files("rec", "det"))).toEqual({ detector: "det", recognizer: "rec" });
  expect(pageReaderTasks(files("det", "rec"))).toEqual(["optical-character-recognition"]);
});

test("other folders are none", () => {
  for (const names of [["detector", "record"], ["det"], ["model_det", "decoder"], []]) {
    expect(findPageReader(files(...names))).toBeUndefined();
    expect(pageReaderTasks(files(...names))).toEqual([]);
  }
  const weights = { name: "det", path: "/models/det.gguf", format: "gguf" } as const;
  expect(findPageReader([weights, ...files("rec")])).toBeUndefined();
});
