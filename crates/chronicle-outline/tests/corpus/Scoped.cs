namespace Db.Scoped;

public class Thing
{
    public void Run() { }
}
