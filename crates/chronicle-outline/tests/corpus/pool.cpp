#pragma once
#define POOL_API

namespace db {
inline namespace v1 {

constexpr int kLimit = 8;
using Id = int;
template <typename T> using Vec = std::vector<T>;
typedef int Old;

enum class State : int { Open, Closed };

/// A pool.
template <typename T>
class Pool : public Base {
 public:
  explicit Pool(int size) : size_(size) {}
  virtual ~Pool();
  /// Takes one.
  T* acquire(bool wait) const noexcept;
  static Pool* open(const char* path) { return nullptr; }
  Pool& operator=(const Pool& other) = default;
  bool operator==(const Pool& o) const { return true; }
  operator bool() const { return true; }
  template <typename R> R map(R r) { return r; }
  virtual void close() = 0;
  struct Node { int x; void touch() {} };
  friend class Other;
 private:
  int size_;
};

}  // namespace v1
}  // namespace db

namespace a::b {
void far() {}
}

// Out of class.
template <typename T>
T* db::Pool<T>::acquire(bool wait) const noexcept {
  auto f = [](int x) { return x; };
  return nullptr;
}

db::Pool<int>::~Pool() {}
int& Counter::get() { static int x; return x; }
bool Counter::operator<(const Counter& o) const { return false; }
Counter::Counter() : x(1) {}

template <> void special<int>() {}

namespace {
int hidden() { return 1; }
}

extern "C" {
int c_function(void) { return 1; }
}

static const char* const names[] = {"a"};
auto trailing() -> int { return 1; }
concept_free: ;
template <typename T> concept Small = sizeof(T) < 8;
