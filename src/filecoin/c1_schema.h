#ifndef CUZK_FILECOIN_C1_SCHEMA_H
#define CUZK_FILECOIN_C1_SCHEMA_H

/*
 * What a C1 output looks like, for c1_parse.c alone: TYPE says what kind of JSON value a type is, its fields which keys
 * an object has and where each value goes.
 */

#include "filecoin/c1.h"

enum kind { OBJECT, VARIANT, ARRAY, BYTES, NUMBER, STRING, NOTHING, SKIP };

enum type {
    T_TOP,
    T_VANILLA,    /* {"StackedDrg…V1": partitions} */
    T_PARTITIONS, /* [[challenge]] */
    T_PARTITION,
    T_CHALLENGE,
    T_REPLICA,
    T_DRG_COLUMNS,
    T_EXP_COLUMNS,
    T_COLUMN_PROOF,
    T_COLUMN,
    T_ROWS,
    T_MERKLE_D, /* {"data": …} of tree D */
    T_MERKLE,   /* … of trees C and R */
    T_DATA_D,   /* {"Single": …} */
    T_DATA,     /* {"Single" | "Sub" | "Top": …} */
    T_SINGLE,
    T_SUB_TREE,
    T_TOP_TREE,
    T_BASE_PATH, /* {"path": levels} */
    T_SUB_PATH,
    T_TOP_PATH,
    T_LEVELS,
    T_LEVEL,
    T_HASHES,
    T_LABELINGS,
    T_LABELING,
    T_PARENTS,
    T_NODE,  /* 32 bytes, below r */
    T_RAW32, /* 32 bytes */
    T_PROOF_NAME,
    T_BASE64,
    T_U32,
    T_U64,
    T_LEVEL_INDEX, /* below the level's arity */
    T_FIRST_NODE,  /* the node of labeling_proofs[0] is kept */
    T_NULL,
    T_UNKNOWN,
};

struct field {
    const char *name;
    enum type type;
    bool optional;
    size_t offset; /* of the value's place, from the object's */
};

#define AT(struct_name, member) offsetof(struct struct_name, member)

struct top {
    struct cz_c1 c1;
    uint64_t envelope_number, envelope_size;
};

/* The first BARE_FIELDS are the C1 object's own, the others the envelope's. */
#define BARE_FIELDS 7
#define ENVELOPE_FIELDS 3
static const struct field TOP_FIELDS[] = {
    {"registered_proof", T_PROOF_NAME, false, 0},
    {"vanilla_proofs", T_VANILLA, false, 0},
    {"comm_r", T_NODE, false, AT(cz_c1, comm_r)},
    {"comm_d", T_NODE, false, AT(cz_c1, comm_d)},
    {"replica_id", T_NODE, false, AT(cz_c1, replica_id)},
    {"seed", T_RAW32, false, AT(cz_c1, seed)},
    {"ticket", T_RAW32, false, AT(cz_c1, ticket)},
    {"SectorNum", T_U64, false, AT(top, envelope_number)},
    {"Phase1Out", T_BASE64, false, 0},
    {"SectorSize", T_U64, false, AT(top, envelope_size)},
};
static const struct field CHALLENGE_FIELDS[] = {
    {"comm_d_proofs", T_MERKLE_D, false, AT(cz_porep_challenge, comm_d)},
    {"comm_r_last_proof", T_MERKLE, false, AT(cz_porep_challenge, comm_r_last)},
    {"replica_column_proofs", T_REPLICA, false, 0},
    {"labeling_proofs", T_LABELINGS, false, AT(cz_porep_challenge, node)},
    {"encoding_proof", T_LABELING, false, 0},
};
static const struct field REPLICA_FIELDS[] = {
    {"c_x", T_COLUMN_PROOF, false, AT(cz_porep_challenge, c_x)},
    {"drg_parents", T_DRG_COLUMNS, false, AT(cz_porep_challenge, drg)},
    {"exp_parents", T_EXP_COLUMNS, false, AT(cz_porep_challenge, exp)},
};
static const struct field COLUMN_PROOF_FIELDS[] = {
    {"column", T_COLUMN, false, 0},
    {"inclusion_proof", T_MERKLE, false, AT(cz_column_proof, inclusion)},
};
static const struct field COLUMN_FIELDS[] = {
    {"index", T_U32, false, AT(cz_column_proof, index)},
    {"rows", T_ROWS, false, 0},
    {"_h", T_NULL, true, 0},
};
static const struct field MERKLE_D_FIELDS[] = {{"data", T_DATA_D, false, 0}};
static const struct field MERKLE_FIELDS[] = {{"data", T_DATA, false, 0}};
static const struct field SINGLE_FIELDS[] = {
    {"root", T_NODE, false, AT(cz_merkle_proof, root)},
    {"leaf", T_NODE, false, AT(cz_merkle_proof, leaf)},
    {"path", T_BASE_PATH, false, 0},
};
static const struct field TREE_FIELDS[] = {
    {"root", T_NODE, false, AT(cz_merkle_proof, root)},
    {"leaf", T_NODE, false, AT(cz_merkle_proof, leaf)},
    {"base_proof", T_BASE_PATH, false, 0},
    {"sub_proof", T_SUB_PATH, false, 0},
    {"top_proof", T_TOP_PATH, false, 0},
};
static const struct field PATH_FIELDS[] = {{"path", T_LEVELS, false, 0}};
static const struct field LEVEL_FIELDS[] = {
    {"hashes", T_HASHES, false, 0},
    {"index", T_LEVEL_INDEX, false, AT(cz_merkle_level, index)},
};
static const struct field LABELING_FIELDS[] = {
    {"parents", T_PARENTS, false, 0},
    {"layer_index", T_U32, false, 0},
    {"node", T_FIRST_NODE, false, 0},
};

#define OBJECT_OF(fields, n) .kind = OBJECT, .field = (fields), .num_fields = (n)
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Variants have their keys in vanilla_key and data_key; arrays their length and places in start_array_of. */
static const struct {
    const struct field *field;
    unsigned num_fields;
    enum kind kind;
    enum type item; /* of an array */
    bool hidden;    /* its key or index does not show in paths */
} TYPE[] = {
    [T_TOP] = {OBJECT_OF(TOP_FIELDS, COUNT(TOP_FIELDS))},
    [T_VANILLA] = {.kind = VARIANT, .hidden = true},
    [T_PARTITIONS] = {.kind = ARRAY, .item = T_PARTITION},
    [T_PARTITION] = {.kind = ARRAY, .item = T_CHALLENGE},
    [T_CHALLENGE] = {OBJECT_OF(CHALLENGE_FIELDS, COUNT(CHALLENGE_FIELDS))},
    [T_REPLICA] = {OBJECT_OF(REPLICA_FIELDS, COUNT(REPLICA_FIELDS))},
    [T_DRG_COLUMNS] = {.kind = ARRAY, .item = T_COLUMN_PROOF},
    [T_EXP_COLUMNS] = {.kind = ARRAY, .item = T_COLUMN_PROOF},
    [T_COLUMN_PROOF] = {OBJECT_OF(COLUMN_PROOF_FIELDS, COUNT(COLUMN_PROOF_FIELDS))},
    [T_COLUMN] = {OBJECT_OF(COLUMN_FIELDS, COUNT(COLUMN_FIELDS))},
    [T_ROWS] = {.kind = ARRAY, .item = T_NODE},
    [T_MERKLE_D] = {OBJECT_OF(MERKLE_D_FIELDS, 1)},
    [T_MERKLE] = {OBJECT_OF(MERKLE_FIELDS, 1)},
    [T_DATA_D] = {.kind = VARIANT},
    [T_DATA] = {.kind = VARIANT},
    [T_SINGLE] = {OBJECT_OF(SINGLE_FIELDS, COUNT(SINGLE_FIELDS))},
    [T_SUB_TREE] = {OBJECT_OF(TREE_FIELDS, COUNT(TREE_FIELDS) - 1)},
    [T_TOP_TREE] = {OBJECT_OF(TREE_FIELDS, COUNT(TREE_FIELDS))},
    [T_BASE_PATH] = {OBJECT_OF(PATH_FIELDS, 1), .hidden = true},
    [T_SUB_PATH] = {OBJECT_OF(PATH_FIELDS, 1), .hidden = true},
    [T_TOP_PATH] = {OBJECT_OF(PATH_FIELDS, 1), .hidden = true},
    [T_LEVELS] = {.kind = ARRAY, .item = T_LEVEL},
    [T_LEVEL] = {OBJECT_OF(LEVEL_FIELDS, COUNT(LEVEL_FIELDS))},
    [T_HASHES] = {.kind = ARRAY, .item = T_NODE},
    [T_LABELINGS] = {.kind = ARRAY, .item = T_LABELING},
    [T_LABELING] = {OBJECT_OF(LABELING_FIELDS, COUNT(LABELING_FIELDS))},
    [T_PARENTS] = {.kind = ARRAY, .item = T_NODE},
    [T_NODE] = {.kind = BYTES},
    [T_RAW32] = {.kind = BYTES},
    [T_PROOF_NAME] = {.kind = STRING},
    [T_BASE64] = {.kind = STRING},
    [T_U32] = {.kind = NUMBER},
    [T_U64] = {.kind = NUMBER},
    [T_LEVEL_INDEX] = {.kind = NUMBER},
    [T_FIRST_NODE] = {.kind = NUMBER},
    [T_NULL] = {.kind = NOTHING},
    [T_UNKNOWN] = {.kind = SKIP},
};

#endif
