/** Arguments of a remote schema's field as they are sent: what the client wrote, with what the role's permission presets put in.
 *  Keeps which of the client's variables are sent along, and those made for session variables.
 *  In: values that have been checked. Out: values of the sent document. Not here: values for the variables (resolve/remote-preset.ts). */

import {
  Kind,
  type ObjectFieldNode,
  type ObjectValueNode,
  parseConstValue,
  type ValueNode,
  visit,
} from 'graphql';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import { hasPresets, isSentAnyway, type OpenInputs } from '../resolve/remote-preset.ts';
import {
  elementType,
  namedType,
  type Preset,
  type UpstreamInput,
  type UpstreamSchema,
} from '../resolve/upstream.ts';

/** An object of which the client has given nothing. */
const NO_FIELDS: ObjectValueNode = { kind: Kind.OBJECT, fields: [] };

export class RemoteArguments {
  /** Variables of the client by name; with the type they are read as where presets go into their values. */
  readonly given = new Map<string, string | null>();
  readonly presets: { readonly name: string; readonly type: string; readonly preset: Preset }[] = [];
  readonly #remote: ResolvedRemoteSchema;
  readonly #part: UpstreamSchema;
  readonly #taken: ReadonlySet<string>;

  /** `taken` are names of the client's variables. */
  constructor(remote: ResolvedRemoteSchema, part: UpstreamSchema, taken: ReadonlySet<string>) {
    this.#remote = remote;
    this.#part = part;
    this.#taken = taken;
  }

  /** Undefined where nothing is sent. An input object with presets is sent although the client leaves it out. */
  value(input: UpstreamInput, written: ValueNode | undefined, open: OpenInputs = []): ValueNode | undefined {
    const { preset, type, default: standard } = input;
    if (preset) return this.#preset(preset, type);
    if (written && written.kind !== Kind.NULL) return this.#filled(written, type, open);
    if (isSentAnyway(this.#part, type, open)) {
      const given = written || standard === null ? NO_FIELDS : parseConstValue(standard);
      return this.#filled(given.kind === Kind.NULL ? NO_FIELDS : given, type, open);
    }
    return this.#remote.skipsNulls ? undefined : written;
  }

  /** Marks the variables in a value as used, so that they are sent. */
  use(node: ValueNode, type: string | null): void {
    visit(node, {
      Variable: ({ name: { value: name } }) => {
        this.given.set(name, type ?? this.given.get(name) ?? null);
      },
    });
  }

  #filled(node: ValueNode, type: string, open: OpenInputs): ValueNode {
    const isFilled = hasPresets(this.#part, type);
    if (node.kind === Kind.VARIABLE || !isFilled) this.use(node, isFilled ? type : null);
    else if (node.kind === Kind.LIST) {
      const element = elementType(type) ?? type;
      return { ...node, values: node.values.map((item) => this.#filled(item, element, open)) };
    } else if (node.kind === Kind.OBJECT) {
      const named = this.#part.types.get(namedType(type));
      const inputs = named?.kind === 'input' ? named.fields : [];
      const inside = [...open, namedType(type)];
      return {
        ...node,
        fields: inputs.flatMap((input) => {
          const written = node.fields.find(({ name }) => name.value === input.name);
          const value = this.value(input, written?.value, inside);
          return value ? [member(input.name, value)] : [];
        }),
      };
    }
    return node;
  }

  #preset(preset: Preset, type: string): ValueNode {
    switch (preset.kind) {
      case 'literal':
        return preset.value;
      case 'session':
        return { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: this.#variable(preset, type) } };
      case 'list': {
        const element = elementType(type) ?? type;
        return { kind: Kind.LIST, values: preset.items.map((item) => this.#preset(item, element)) };
      }
      case 'object': {
        const named = this.#remote.schema.types.get(namedType(type));
        const inputs = named?.kind === 'input' ? named.fields : [];
        const fields = preset.fields.map(([name, inner]) => {
          return member(name, this.#preset(inner, inputs.find((input) => input.name === name)!.type));
        });
        return { kind: Kind.OBJECT, fields };
      }
      default:
        return preset satisfies never;
    }
  }

  #variable(preset: Preset, type: string): string {
    let name = `_${this.presets.length + 1}`;
    while (this.#taken.has(name)) name = `_${name}`;
    this.presets.push({ name, type, preset });
    return name;
  }
}

function member(name: string, value: ValueNode): ObjectFieldNode {
  return { kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: name }, value };
}
