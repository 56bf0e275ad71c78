/** Functions of native libraries. */
export { ForeignFunctions, type NativeCallback } from "./foreign-functions.ts";
export { cLibraryPath } from "./c-library.ts";
export { NativeLibrary } from "./native-library.ts";
export type { NativeFunction } from "./native-type.ts";
export {
  type FieldValue,
  type FieldType,
  type StructLayout,
  getFieldSize,
  layOut,
  readField,
  writeField,
} from "./struct-layout.ts";
