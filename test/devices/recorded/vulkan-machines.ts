/** Machines with Vulkan: software only, and a notebook with a real device beside the software one. Composed in the layout of `vulkaninfo --summary` 1.3. */
import type { Recording } from "./recording.ts";
import { noGpu } from "./no-gpu.ts";
import { loaderCache } from "./recording.ts";

const llvmpipe = (number: number): string => `GPU${number}:
	apiVersion         = 1.3.267
	driverVersion      = 0.0.1
	vendorID           = 0x10005
	deviceID           = 0x0000
	deviceType         = PHYSICAL_DEVICE_TYPE_CPU
	deviceName         = llvmpipe (LLVM 17.0.6, 256 bits)
	driverID           = DRIVER_ID_MESA_LLVMPIPE
	driverName         = llvmpipe
	driverInfo         = Mesa 23.3.5 (LLVM 17.0.6)
`;

const radeon = (number: number): string => `GPU${number}:
	apiVersion         = 1.3.274
	driverVersion      = 24.0.5
	vendorID           = 0x1002
	deviceID           = 0x150e
	deviceType         = PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
	deviceName         = AMD Radeon Graphics (RADV GFX1150)
	driverID           = DRIVER_ID_MESA_RADV
	driverName         = radv
	driverInfo         = Mesa 24.0.5
`;

const summary = (devices: string): string => `==========
VULKANINFO
==========

Vulkan Instance Version: 1.3.275


Instance Extensions: count = 23
-------------------------------
VK_EXT_acquire_drm_display             : extension revision 1

Devices:
========
${devices}`;

/** A recorded machine whose only Vulkan driver is Mesa's lavapipe, as in most containers with graphics libraries. */
export const softwareVulkan: Recording = {
  ...noGpu,
  files: {
    ...noGpu.files,
    "/etc/ld.so.cache": loaderCache("/lib/x86_64-linux-gnu/libvulkan.so.1"),
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json": "{}",
    "/usr/bin/vulkaninfo": "",
  },
  commands: { "/usr/bin/vulkaninfo --summary": summary(llvmpipe(0)) },
};

/** A recorded notebook with a Radeon GPU and all Vulkan drivers of Mesa, which lists the software device first. */
export const radeonNotebook: Recording = {
  ...softwareVulkan,
  files: {
    ...softwareVulkan.files,
    "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json": "{}",
    "/usr/share/vulkan/icd.d/intel_icd.x86_64.json": "{}",
    "/sys/class/drm/renderD128/device/vendor": "0x1002\n",
    "/sys/class/drm/renderD128/device/device": "0x150e\n",
  },
  commands: { "/usr/bin/vulkaninfo --summary": summary(`${llvmpipe(0)}${radeon(1)}`) },
};

/** A recorded machine with the Vulkan drivers of `radeonNotebook` and no Vulkan device. */
export const mesaWithoutDevice: Recording = {
  ...radeonNotebook,
  commands: { "/usr/bin/vulkaninfo --summary": summary(llvmpipe(0)) },
};
