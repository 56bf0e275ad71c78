/** Reads one value of an ONNX file's metadata as a whole. `readOnnxOutline` reads the beginnings of all. */
import { type Reading, withFileWindow } from "../file-window.ts";
import { ProtobufFile } from "../protobuf/protobuf-file.ts";
import { modelProto, stringStringEntryProto } from "./onnx-fields.ts";

/** Bytes of a value, at most: the dictionary of a recognizer of 18,708 characters takes 67 KB. */
const maxValueBytes = 4 * 1024 * 1024;

/**
 * The value of `metadata_props` under a key, or undefined if the file has none; the last of several. `displayName` is the path as the user wrote it. Throws
 * MODEL_INVALID if the file cannot be read or is damaged, or if the value has more than 4 MiB.
 */
export async function readOnnxMetadata(path: string, displayName: string, wanted: string): Promise<string | undefined> {
  return await withFileWindow(path, displayName, "ONNX", (window) => findValue(new ProtobufFile(window), wanted));
}

function* findValue(file: ProtobufFile, wanted: string): Reading<string | undefined> {
  let found: string | undefined;
  const fields = file.fields(0, file.size);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number !== modelProto.metadataProps) continue;
    let [key, value] = ["", ""];
    const entry = file.fields(field.start, field.end);
    for (let part = yield* entry.next(); part !== undefined; part = yield* entry.next()) {
      if (part.number === stringStringEntryProto.key) key = yield* file.text(part);
      else if (part.number === stringStringEntryProto.value) {
        const text = yield* file.textStart(part, maxValueBytes);
        if (text.bytes > maxValueBytes)
          throw new Error(`a value of its metadata has ${text.bytes} bytes; at most ${maxValueBytes} are read`);
        value = text.value;
      }
    }
    if (key === wanted) found = value;
  }
  return found;
}
