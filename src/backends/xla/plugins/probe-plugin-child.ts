/** Program of the child process of `probe-plugin.ts`, which answers with the facts of the plugin. */
import { InferyardError } from "../../../contract/errors.ts";
import { answerParent } from "../../../platform/node/child-report.ts";
import { getXlaDeviceType, openAnyClient, openClient } from "../open-client.ts";
import type { PluginFacts, ProbeRequest } from "./probe-plugin.ts";
import { testDevice } from "../self-test.ts";

await answerParent(async (request): Promise<PluginFacts> => {
  const { path, device } = request as ProbeRequest;
  const { plugin, client } = await (device === undefined ? openAnyClient(path) : openClient(path, device, {}));
  const deviceType = getXlaDeviceType(client.platform);
  if (deviceType === undefined) throw new InferyardError("BACKEND_UNAVAILABLE", `its platform "${client.platform}" is not known`);
  testDevice(client);
  const { apiVersion } = plugin;
  const stableHloVersion = plugin.attributes()["stablehlo_current_version"] ?? "";
  return { deviceType, deviceKind: client.deviceKind, apiVersion, stableHloVersion };
});
