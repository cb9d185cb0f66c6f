/** Decides which hosts and addresses the operator may request artifacts from. The author of a resource names the host, and DNS may answer
 *  with any address, so the address is checked where the connection is opened.
 *  Not here: the hosts that the grants of an Engine cover (grants/needs.ts). */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isMatch } from '../grants/grants.ts';
import { ArtifactProblem } from './artifact-problem.ts';

export type AddressPolicy = {
  /** Patterns of hosts, with a port if the repository names one: `ghcr.io`, `*.example.com`, `registry.example.com:5000`. */
  readonly hosts: readonly string[];
  /** True when a registry may be on this machine, as for the command line. */
  readonly allowsLoopback: boolean;
};

/** Addresses of no registry: link-local networks, in which clouds have their metadata services, the metadata services elsewhere, and
 *  addresses that are not those of a host. */
const NEVER = new BlockList();
for (const [network, prefix] of [
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
] as const) {
  NEVER.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['fe80::', 10],
  ['ff00::', 8],
  ['::', 128],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  // Link-local addresses behind NAT64.
  ['64:ff9b::a9fe:0', 112],
] as const) {
  NEVER.addSubnet(network, prefix, 'ipv6');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns why the host may not be requested; undefined when it may. */
export function hostProblem(host: string, { hosts }: AddressPolicy): string | undefined {
  return hosts.some((pattern) => isMatch(pattern, host))
    ? undefined
    : `the operator does not request artifacts from ${host}; its option --registries lists the hosts`;
}

/** Returns the policy for a registry: one that the list names without a pattern may be on this machine. */
export function policyFor(host: string, policy: AddressPolicy): AddressPolicy {
  return { ...policy, allowsLoopback: policy.allowsLoopback || policy.hosts.includes(host) };
}

/** True when the policy admits the address, in any spelling. */
export function isAdmitted(address: string, { allowsLoopback }: AddressPolicy): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  // An IPv4 address inside IPv6 is compared with the networks of IPv4.
  if (isIP(address) === 0 || NEVER.check(address, family)) return false;
  return allowsLoopback || !LOOPBACK.check(address, family);
}

/** Raises ArtifactProblem for a host that is an address which the policy does not admit. Such a host is not looked up. */
export function checkLiteral(hostname: string, policy: AddressPolicy): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isAdmitted(address, policy)) throw refused(hostname);
}

/** Returns a look-up of host names that fails when one of the addresses is not admitted. */
export function guardedLookup(policy: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: readonly LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const isSafe = addresses.length > 0 && addresses.every(({ address }) => isAdmitted(address, policy));
      if (!isSafe) return callback(refused(hostname), '', 0);
      if (options.all) return callback(null, [...addresses]);
      callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

function refused(hostname: string): ArtifactProblem {
  return new ArtifactProblem(
    `the address of ${hostname} is not one of a registry: it is link-local, or on this machine`,
  );
}
