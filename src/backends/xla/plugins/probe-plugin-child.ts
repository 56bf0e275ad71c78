/** Program of the child process of `probe-plugin.ts`. argv[2] is the request as JSON; the last line of stdout is the report. */
import { getMessage } from "../../../contract/errors.ts";
import { getDeviceType, openAnyClient, openClient } from "../open-client.ts";
import type { ProbeReport, ProbeRequest } from "./probe-plugin.ts";
import { testDevice } from "../self-test.ts";

async function run({ path, device }: ProbeRequest): Promise<ProbeReport> {
  const { plugin, client } = await (device === undefined ? openAnyClient(path) : openClient(path, device, {}));
  const deviceType = getDeviceType(client.platform);
  if (deviceType === undefined) return { ok: false, reason: `its platform "${client.platform}" is not known` };
  testDevice(client);
  const { apiVersion } = plugin;
  const stableHloVersion = plugin.attributes()["stablehlo_current_version"] ?? "";
  return { ok: true, facts: { deviceType, deviceKind: client.deviceKind, apiVersion, stableHloVersion } };
}

const report = await run(JSON.parse(process.argv[2] ?? "") as ProbeRequest).catch((error: unknown): ProbeReport => ({
  ok: false,
  reason: getMessage(error),
}));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
