/** `pergola operator migrate-storage`: migrates stored resources to the current version after an upgrade, and removes older versions from
 *  the definitions. Prints one line per migrated kind.
 *  Exit codes: 0 done, 1 a read or write failed, 2 wrong options. Not here: the migration (../kubernetes/storage-migration.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { API_GROUP, KINDS } from '../kinds.ts';
import { defaultKubeConfig } from '../kubernetes/kube-config.ts';
import {
  type Definition,
  definitionOf,
  migrateStorage,
  olderVersionsOf,
  storageVersionOf,
} from '../kubernetes/storage-migration.ts';
import { connect, type Transport } from '../kubernetes/transport.ts';

const HELP = `pergola operator migrate-storage: stores all resources in the current version of their definitions and removes older
versions from the definitions, in the cluster of KUBECONFIG or of this pod. Safe to repeat.

  --settle-seconds NUMBER   time to wait until every API server has the current definitions [10]

Required permissions: docs/guides/installing.md
`;

export async function run(argv: readonly string[]): Promise<number> {
  const flags = flagsIn(argv);
  if (!flags) return 2;
  if (flags.help) {
    process.stdout.write(HELP);
    return 0;
  }
  try {
    const config = await defaultKubeConfig();
    const transport = await connect(config);
    await migrateAll(transport, flags.settleSeconds).finally(() => transport.close());
    return 0;
  } catch (error) {
    complain((error as Error).message);
    return 1;
  }
}

async function migrateAll(transport: Transport, settleSeconds: number): Promise<void> {
  const outdated: [plural: string, definition: Definition][] = [];
  for (const { plural } of KINDS) {
    const definition = await definitionOf(transport, plural);
    if (!definition) say(`${plural}.${API_GROUP}: there is no such definition`);
    else if (olderVersionsOf(definition).length > 0) outdated.push([plural, definition]);
  }
  if (outdated.length === 0) return say('nothing is stored as an older version');
  await sleep(settleSeconds * 1000);
  for (const [plural, definition] of outdated) {
    const count = await migrateStorage(transport, plural, definition);
    const older = olderVersionsOf(definition).join(', ');
    say(
      `${plural}.${API_GROUP}: ${count} resources, stored as ${storageVersionOf(definition)}, none as ${older}`,
    );
  }
}

/** Returns the flags; undefined after printing what is wrong with them. */
function flagsIn(
  argv: readonly string[],
): { readonly help: boolean; readonly settleSeconds: number } | undefined {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    const settleSeconds = Number(values['settle-seconds']);
    if (Number.isInteger(settleSeconds) && settleSeconds >= 0) return { help: values.help, settleSeconds };
    complain(`--settle-seconds is a whole number, not ${values['settle-seconds']}`);
  } catch (error) {
    complain((error as Error).message);
  }
  return undefined;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h', default: false },
  'settle-seconds': { type: 'string', default: '10' },
} as const;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(what: string): void {
  process.stderr.write(`pergola operator migrate-storage: ${what}\n`);
}
