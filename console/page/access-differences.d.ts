/** The types of access-differences.js, for its test. */
export declare function accessDifferences(one: object | null, other: object | null): readonly string[];
export declare function isGranted(cell: object | null): boolean;
