/* A pool. */
#include <stdio.h>

#define LIMIT 8
#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

typedef unsigned int id_t2, *id_p;
typedef int (*callback)(int, void *);

/* Keeps connections. */
struct pool {
    int size;
    struct { int x; } inner;
};

typedef struct node {
    struct node *next;
} node_t;

typedef struct { int a; } anon_t;

enum state { OPEN, CLOSED };
union word { int a; float b; };

static int counter = 0;
extern const char *name;
int table[3] = {1, 2, 3};

int pool_open(const char *path);

/* Takes one. */
static inline struct pool *
pool_acquire(struct pool *p, int wait)
{
    return p;
}

int (*pool_hook(int which))(int)
{
    return 0;
}

#ifdef LINUX
void pool_close(void) { }
#else
void pool_close2(void) { }
#endif

int old_style(a, b)
    int a;
    int b;
{
    return a;
}
