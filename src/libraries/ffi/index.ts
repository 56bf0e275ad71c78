/** Functions of native libraries. */
export { ForeignFunctions, type NativeCallback } from "./foreign-functions.ts";
export { cLibraryPath } from "./c-library.ts";
export { ExecutableMemory } from "./executable-memory.ts";
export { koffiInstall } from "./koffi.ts";
export { NativeLibrary } from "./native-library.ts";
export type {
  ArgumentOf,
  AsyncNativeFunction,
  NativeFunction,
  NativeMemory,
  ParameterType,
  ResultOf,
  ResultType,
  Signature,
} from "./native-type.ts";
export {
  type FieldType,
  type FieldValue,
  type StructField,
  type StructLayout,
  fieldSizes,
  layOut,
  readField,
  writeField,
} from "./struct-layout.ts";
