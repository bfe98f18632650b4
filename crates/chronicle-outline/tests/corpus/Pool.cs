using System;

namespace Db.Inner
{
    /// <summary>A pool.</summary>
    [Serializable]
    public sealed partial class Pool<T> : Base, ISource<T> where T : class
    {
        public const int Limit = 8;
        private readonly int size;
        public event EventHandler Closed;

        /// <summary>How long.</summary>
        public int Length { get; private set; }
        public int Twice => Length * 2;
        public T this[int i] { get { return null; } }

        public Pool(int size) : base(size) { this.size = size; }
        ~Pool() { }

        /// <summary>Takes one.</summary>
        [Obsolete("no")]
        public async Task<T> AcquireAsync<R>(
            bool wait)
        {
            int Local(int x) => x;
            return null;
        }

        public T Acquire() => null;
        public static Pool<T> operator +(Pool<T> a, Pool<T> b) => a;
        void ISource<T>.Next() { }

        private enum State { Open, Closed }
        public delegate void Handler(object sender);
        struct Node { public int X; }
    }

    public partial class Pool<T> { void Extra() { } }
    public interface ISource<T> { void Next(); int Count { get; } }
    public record Point(int X, int Y);
    public record struct Size(int W) { public int Area() => W; }
    public static class Extensions { public static int Half(this int x) => x / 2; }
}
