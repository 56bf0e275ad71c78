/** Reads one value of an ONNX file's metadata as a whole. `readOnnxOutline` reads the beginnings of all. */
import { type FileWindow, type Reading, withFileWindow } from "../file-window.ts";
import { MessageReader } from "../protobuf/message-reader.ts";
import { getLastRange } from "../protobuf/ranges.ts";
import { onnxMessages } from "./onnx-messages.ts";

/** Bytes of a value, at most: the dictionary of a recognizer of 18,708 characters takes 67 KB. */
const maxValueBytes = 4 * 1024 * 1024;
/** The message of the file without its graph. */
const messages = { model: { metadata: onnxMessages.model.metadata }, metadata: onnxMessages.metadata } as const;

/**
 * The value of `metadata_props` under a key, or undefined if the file has none; the last of several. `displayName` is the path as the user wrote it. Throws
 * MODEL_INVALID if the file cannot be read or is damaged, or if the value has more than 4 MiB.
 */
export async function readOnnxMetadata(path: string, displayName: string, wanted: string): Promise<string | undefined> {
  return await withFileWindow(path, displayName, "ONNX", (window) => findValue(window, wanted));
}

function* findValue(window: FileWindow, wanted: string): Reading<string | undefined> {
  const { metadata } = yield* new MessageReader(window, messages).read("model");
  const entry = metadata.findLast(({ key }) => key === wanted);
  if (entry === undefined) return undefined;
  const { start, length } = getLastRange(entry.value) ?? { start: 0, length: 0 };
  if (length > maxValueBytes) throw new Error(`a value of its metadata has ${length} bytes; at most ${maxValueBytes} are read`);
  return yield* window.readText(start, length);
}
