/**
 * The functions of the PJRT C API that are used, and the layouts of their arguments (pjrt_c_api.h of OpenXLA). Offsets of functions and fields are
 * the same in all versions from 0.54 on; later versions add fields at the end.
 */
import { type FieldType, type StructLayout, layOut } from "../../../libraries/ffi/index.ts";

/** Fields by name. "text" stands for the address of bytes and, with the ending `_size`, their number; "optional int64" for a number and, with `_is_set`, whether it is there. */
type Fields = Readonly<Record<string, FieldType | "text" | "optional int64">>;

/** The functions by their names without the prefix PJRT_: the index in the table of `PJRT_Api`, from 0, and the fields of the arguments. */
const functions = {
  Error_Destroy: [0, { error: "pointer" }],
  Error_Message: [1, { error: "pointer", message: "text" }],
  Error_GetCode: [2, { error: "pointer", code: "int32" }],
  Plugin_Initialize: [3, {}],
  Plugin_Attributes: [4, { attributes: "pointer", num_attributes: "uint64" }],
  Event_Destroy: [5, { event: "pointer" }],
  Event_IsReady: [6, { event: "pointer", is_ready: "bool" }],
  Event_Await: [8, { event: "pointer" }],
  Client_Create: [
    10,
    {
      create_options: "pointer",
      num_options: "uint64",
      kv_get_callback: "pointer",
      kv_get_user_arg: "pointer",
      kv_put_callback: "pointer",
      kv_put_user_arg: "pointer",
      client: "pointer",
      kv_try_get_callback: "pointer",
      kv_try_get_user_arg: "pointer",
    },
  ],
  Client_Destroy: [11, { client: "pointer" }],
  Client_PlatformName: [12, { client: "pointer", platform_name: "text" }],
  Client_PlatformVersion: [14, { client: "pointer", platform_version: "text" }],
  Client_AddressableDevices: [16, { client: "pointer", addressable_devices: "pointer", num_addressable_devices: "uint64" }],
  Client_Compile: [20, { client: "pointer", program: "pointer", compile_options: "text", executable: "pointer" }],
  Client_BufferFromHostBuffer: [
    22,
    {
      client: "pointer",
      data: "pointer",
      type: "int32",
      dims: "pointer",
      num_dims: "uint64",
      byte_strides: "pointer",
      num_byte_strides: "uint64",
      host_buffer_semantics: "int32",
      device: "pointer",
      memory: "pointer",
      device_layout: "pointer",
      done_with_host_buffer: "pointer",
      buffer: "pointer",
    },
  ],
  DeviceDescription_Kind: [26, { device_description: "pointer", device_kind: "text" }],
  Device_GetDescription: [29, { device: "pointer", device_description: "pointer" }],
  Device_MemoryStats: [
    34,
    {
      device: "pointer",
      bytes_in_use: "int64",
      peak_bytes_in_use: "optional int64",
      num_allocs: "optional int64",
      largest_alloc_size: "optional int64",
      bytes_limit: "optional int64",
      bytes_reserved: "optional int64",
      peak_bytes_reserved: "optional int64",
      bytes_reservable_limit: "optional int64",
      largest_free_block_bytes: "optional int64",
      pool_bytes: "optional int64",
      peak_pool_bytes: "optional int64",
    },
  ],
  Executable_Destroy: [40, { executable: "pointer" }],
  Executable_NumOutputs: [44, { executable: "pointer", num_outputs: "uint64" }],
  Executable_OutputElementTypes: [90, { executable: "pointer", output_types: "pointer", num_output_types: "uint64" }],
  Executable_Serialize: [
    49,
    {
      executable: "pointer",
      serialized_bytes: "text",
      serialized_executable: "pointer",
      serialized_executable_deleter: "pointer",
    },
  ],
  LoadedExecutable_Destroy: [50, { executable: "pointer" }],
  LoadedExecutable_GetExecutable: [51, { loaded_executable: "pointer", executable: "pointer" }],
  LoadedExecutable_Execute: [
    55,
    {
      executable: "pointer",
      options: "pointer",
      argument_lists: "pointer",
      num_devices: "uint64",
      num_args: "uint64",
      output_lists: "pointer",
      device_complete_events: "pointer",
      execute_device: "pointer",
    },
  ],
  Executable_DeserializeAndLoad: [
    56,
    {
      client: "pointer",
      serialized_executable: "text",
      loaded_executable: "pointer",
      overridden_serialized_compile_options: "text",
    },
  ],
  Buffer_Destroy: [58, { buffer: "pointer" }],
  Buffer_ToHostBuffer: [70, { src: "pointer", host_layout: "pointer", dst: "pointer", dst_size: "uint64", event: "pointer" }],
  Buffer_ReadyEvent: [72, { buffer: "pointer", event: "pointer" }],
  Buffer_UnsafePointer: [73, { buffer: "pointer", buffer_pointer: "uint64" }],
  Executable_GetCompiledMemoryStats: [
    96,
    {
      executable: "pointer",
      generated_code_size_in_bytes: "int64",
      argument_size_in_bytes: "int64",
      output_size_in_bytes: "int64",
      alias_size_in_bytes: "int64",
      temp_size_in_bytes: "int64",
      host_generated_code_size_in_bytes: "int64",
      host_argument_size_in_bytes: "int64",
      host_output_size_in_bytes: "int64",
      host_alias_size_in_bytes: "int64",
      host_temp_size_in_bytes: "int64",
      peak_memory_in_bytes: "int64",
    },
  ],
} as const;

/** Names of the PJRT functions in use, without the prefix PJRT_. */
export type PjrtFunctionName = keyof typeof functions;

/** A function: its index in the table of `PJRT_Api`, from 0, and the layout of its arguments. */
export interface PjrtFunction {
  readonly slot: number;
  readonly layout: StructLayout;
}

/** The layout of a struct, which begins with its size and a list of extensions, which is empty here. */
function define(name: string, fields: Fields): StructLayout {
  const stated = Object.entries(fields).flatMap(([field, type]): (readonly [name: string, type: FieldType])[] => {
    if (type === "text")
      return [
        [field, "pointer"],
        [`${field}_size`, "uint64"],
      ];
    return type === "optional int64"
      ? [
          [field, "int64"],
          [`${field}_is_set`, "bool"],
        ]
      : [[field, type]];
  });
  return layOut(name, [["struct_size", "uint64"], ["extension_start", "pointer"], ...stated]);
}

/** The PJRT functions in use, by name. */
export const pjrtFunctions: Readonly<Record<PjrtFunctionName, PjrtFunction>> = Object.fromEntries(
  Object.entries(functions).map(([name, [slot, fields]]) => [name, { slot, layout: define(`PJRT_${name}_Args`, fields) }]),
) as Record<PjrtFunctionName, PjrtFunction>;

/** PJRT_Program: the code of a program and the name of its format. */
export const programLayout: StructLayout = define("PJRT_Program", { code: "text", format: "text" });

/** Options of a run; all stay zero. The size is taken from the version with the most fields; older plugins accept a larger size. */
export const executeOptionsLayout: StructLayout = define("PJRT_ExecuteOptions", {
  send_callbacks: "pointer",
  recv_callbacks: "pointer",
  num_send_ops: "uint64",
  num_recv_ops: "uint64",
  launch_id: "int32",
  non_donatable_input_indices: "pointer",
  num_non_donatable_input_indices: "uint64",
  context: "pointer",
  call_location: "pointer",
  num_tasks: "uint64",
  task_ids: "pointer",
  incarnation_ids: "pointer",
  multi_slice_config: "pointer",
});

/** A named value: an option of a client, or an attribute of a plugin. */
export const namedValueLayout: StructLayout = define("PJRT_NamedValue", {
  name: "text",
  type: "int32",
  value: "int64",
  value_size: "uint64",
});
