/** Decides which addresses may be connected to, for the engine and the operator: services, databases, registries, engines. The author of a
 *  definition names the host and DNS may answer with any address, so the decision is about the address that is connected to, when a
 *  connection is opened. In: a host, and the hosts that may be on this machine. Out: a look-up for node:net, or AddressRefused.
 *  Not here: the hosts that a namespace is granted (operator/grants). Reference: docs/guides/security.md, "Where requests can go". */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { Agent } from 'node:http';
import { BlockList, isIP, type LookupFunction, Socket } from 'node:net';

/** Raised in place of a connection. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';

  constructor(host: string) {
    super(`the address of ${host} is refused: it is link-local, of a metadata service, or on this machine`);
  }
}

/** True when the host may be on this machine. */
export type AllowsLoopback = (host: string) => boolean;

/** How names are looked up and addresses are connected to. A test replaces both, to serve any address from a local port. */
export type Network = {
  readonly lookup: (
    host: string,
    options: LookupOptions & { readonly all: true },
    callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
  /** Returns the address to connect to for an admitted one. */
  readonly routed: (address: string) => string;
};

const SYSTEM: Network = { lookup, routed: (address) => address };

/** Networks of IPv4 that no service is in: link-local, in which clouds have their metadata services, the metadata services elsewhere, and
 *  addresses that are not those of one host. */
const REFUSED_IPV4 = [
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const;
const REFUSED_IPV6 = [
  ['fe80::', 10],
  ['ff00::', 8],
  ['::', 128],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
] as const;

const REFUSED = new BlockList();
const LOOPBACK = new BlockList();
for (const [network, prefix] of REFUSED_IPV6) REFUSED.addSubnet(network, prefix, 'ipv6');
for (const [network, prefix] of REFUSED_IPV4) addIpv4(REFUSED, network, prefix);
addIpv4(LOOPBACK, '127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Adds a network of IPv4, and the same behind NAT64 (64:ff9b::/96) and 6to4 (2002::/16). The list itself compares addresses in the form
 *  ::ffff:0:0/96. */
function addIpv4(list: BlockList, network: string, prefix: number): void {
  const bytes = network.split('.').map(Number);
  const [high, low] = [0, 2].map((i) => ((bytes[i]! << 8) | bytes[i + 1]!).toString(16));
  list.addSubnet(network, prefix, 'ipv4');
  list.addSubnet(`64:ff9b::${high}:${low}`, 96 + prefix, 'ipv6');
  list.addSubnet(`2002:${high}:${low}::`, 16 + prefix, 'ipv6');
}

/** True when the address, in any spelling, may be connected to. */
export function isAdmitted(address: string, allowsLoopback: boolean): boolean {
  const version = isIP(address);
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (version === 0 || REFUSED.check(address, family)) return false;
  return allowsLoopback || !LOOPBACK.check(address, family);
}

/** Returns the options of a connection to the host: the address if the host is one, else a look-up that fails when one of the addresses is
 *  not admitted. Raises AddressRefused for an address. */
export function admittedHost(
  host: string,
  allowsLoopback: boolean,
  network: Network = SYSTEM,
): { readonly host: string; readonly lookup: LookupFunction } {
  if (isIP(host) !== 0 && !isAdmitted(host, allowsLoopback)) throw new AddressRefused(host);
  const guarded: LookupFunction = (name, options, callback) => {
    network.lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const isSafe = found.length > 0 && found.every(({ address }) => isAdmitted(address, allowsLoopback));
      if (!isSafe) return callback(new AddressRefused(host), '', 0);
      const routed = found.map(({ address: admitted }) => {
        const address = network.routed(admitted);
        return { address, family: isIP(address) };
      });
      if (options.all) return callback(null, routed);
      callback(null, routed[0]!.address, routed[0]!.family);
    });
  };
  return { host: isIP(host) === 0 ? host : network.routed(host), lookup: guarded };
}

/** Makes an agent connect to admitted addresses only, and returns it. */
export function guardedAgent<A extends Agent>(
  agent: A,
  allowsLoopback: AllowsLoopback,
  network: Network = SYSTEM,
): A {
  const connect = agent.createConnection.bind(agent);
  const createConnection: Agent['createConnection'] = (options, callback) => {
    const host = options.host ?? 'localhost';
    try {
      return connect({ ...options, ...admittedHost(host, allowsLoopback(host), network) }, callback);
    } catch (error) {
      return new Socket().destroy(error as Error);
    }
  };
  return Object.assign(agent, { createConnection });
}

/** The hosts of services and databases that may be on the machine of this engine. Every host until the options say otherwise. */
let loopbackHosts: readonly string[] = ['*'];

/** Sets the hosts that may be on this machine, for the process (--loopback-hosts). */
export function setLoopbackHosts(list: string): void {
  loopbackHosts = list.split(',').map((host) => host.trim());
}

/** True when the options of the engine let the host be on this machine. */
export const isLoopbackHost: AllowsLoopback = (host) =>
  loopbackHosts.some((listed) => listed === '*' || listed === host);
