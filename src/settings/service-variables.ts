/**
 * Variables that Kubernetes and Docker links set in every container for each Service: for one called `inferyard` they start as our own do.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */

/** `<SERVICE>_SERVICE_HOST`, `<SERVICE>_SERVICE_PORT[_<PORT NAME>]`, `<SERVICE>_PORT` and `<SERVICE>_PORT_<NUMBER>_<PROTOCOL>[_PROTO | _PORT | _ADDR]`. */
const host = /^\w+?_SERVICE_HOST$/;
const servicePort = /^(?<service>\w+?)_SERVICE_PORT(_\w+)?$/;
const link = /^\w+?_PORT(_\d+_(TCP|UDP|SCTP))?$/;
const linkPart = /^\w+?_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)$/;

/** An address such as "tcp://10.0.0.1:8080", which no setting has as its value. */
const linkValue = /^(tcp|udp|sctp):\/\/\S+$/i;

/** The variables with our prefix that Kubernetes sets for a Service. */
export function getServiceVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([variable, text = ""]) =>
    variable.startsWith("INFERYARD_") && isServiceVariable(variable, text, environment) ? [variable] : [],
  );
}

/**
 * Whether a variable was set by a container platform for a Service, by the form of its name and of its value: a port variable must hold an address, so that
 * `INFERYARD_SERVER_PORT=8080` remains a setting even if there is a Service called `inferyard-server`.
 */
export function isServiceVariable(
  name: string,
  value: string,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (linkPart.test(name)) return true;
  if (host.test(name)) return /^[\d.a-f:]+$/i.test(value);
  const { service } = servicePort.exec(name)?.groups ?? {};
  if (service !== undefined) return /^\d+$/.test(value) && environment[`${service}_SERVICE_HOST`] !== undefined;
  return link.test(name) && linkValue.test(value);
}
